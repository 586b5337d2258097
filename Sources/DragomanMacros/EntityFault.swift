import SwiftDiagnostics
import SwiftSyntax

/// What a declaration says that cannot work: a sentence that names the place and the way out.
struct EntityFault: DiagnosticMessage {
  /// The rule that is broken, for those who filter diagnostics.
  enum Rule: String {
    /// Something that is no plain struct.
    case kind
    /// A name that is not known before the program runs, is reserved, or is there twice.
    case name
    /// A property whose type is not written.
    case annotation
    /// A type that no attribute and no relationship has.
    case type
    /// A value that would hold itself.
    case cycle
    /// A constant that cannot be unboxed.
    case constant
    /// A declaration that is not one plain stored property.
    case binding
    /// A transient property without a value to begin with.
    case transient
    /// A to-many of references that does not say what leads back.
    case inverse
    /// A marker, or an argument of one, where it has no meaning.
    case marker
    /// A unique key or an index over something that is not there.
    case key
  }

  let rule: Rule
  let message: String
  let severity = DiagnosticSeverity.error

  init(_ rule: Rule, _ message: String) {
    self.rule = rule
    self.message = message
  }

  var diagnosticID: MessageID { MessageID(domain: "Dragoman", id: rule.rawValue) }
}

/// What a fix-it does, in the imperative.
private struct EntityFixMessage: FixItMessage {
  let message: String

  var fixItID: MessageID { MessageID(domain: "Dragoman", id: "fix") }
}

/// A change of the source, as text: a fix-it cannot know how the rest is laid out.
struct SourceChange {
  private let range: Range<AbsolutePosition>
  private let text: String
  private let place: Syntax

  private init(_ range: Range<AbsolutePosition>, _ text: String, in place: some SyntaxProtocol) {
    self.range = range
    self.text = text
    self.place = Syntax(place)
  }

  /// Puts a text in the place of a node, without the space around it.
  static func replace(_ node: some SyntaxProtocol, by text: String) -> SourceChange {
    SourceChange(node.trimmedRange, text, in: node)
  }

  /// Puts a text behind a node.
  static func insert(_ text: String, behind node: some SyntaxProtocol) -> SourceChange {
    let end = node.endPositionBeforeTrailingTrivia
    return SourceChange(end..<end, text, in: node)
  }

  /// Puts a text before a node.
  static func insert(_ text: String, before node: some SyntaxProtocol) -> SourceChange {
    let start = node.positionAfterSkippingLeadingTrivia
    return SourceChange(start..<start, text, in: node)
  }

  /// Takes a node away, and the space up to what follows.
  static func remove(_ node: some SyntaxProtocol) -> SourceChange {
    let start = node.positionAfterSkippingLeadingTrivia
    let end = node.lastToken(viewMode: .sourceAccurate)?.nextToken(viewMode: .sourceAccurate)
    return SourceChange(
      start..<(end?.positionAfterSkippingLeadingTrivia ?? node.endPosition),
      "",
      in: node
    )
  }

  /// Takes away the attribute that a macro was asked to expand.
  ///
  /// It is handed over by itself, so what follows it is seen in the declaration's own list only.
  static func remove(
    _ marker: AttributeSyntax,
    of attributes: AttributeListSyntax?
  ) -> SourceChange {
    for case .attribute(let attribute) in attributes ?? []
    where attribute.trimmedDescription == marker.trimmedDescription {
      return .remove(attribute)
    }
    return .remove(marker)
  }

  fileprivate var change: FixIt.Change { .replaceText(range: range, with: text, in: place) }
}

extension FixIt {
  /// A fix-it of changes of the text.
  init(_ message: String, _ changes: [SourceChange]) {
    self.init(message: EntityFixMessage(message: message), changes: changes.map(\.change))
  }

  /// A fix-it of changes of the text.
  init(_ message: String, _ changes: SourceChange...) { self.init(message, changes) }
}

/// The faults of one declaration; all of them are told together.
struct EntityFaults {
  private(set) var diagnostics: [Diagnostic] = []

  /// Notes a fault at a node.
  mutating func add(
    _ rule: EntityFault.Rule,
    at node: some SyntaxProtocol,
    _ message: String,
    fixIts: [FixIt] = []
  ) {
    diagnostics.append(
      Diagnostic(node: node, message: EntityFault(rule, message), fixIts: fixIts)
    )
  }
}

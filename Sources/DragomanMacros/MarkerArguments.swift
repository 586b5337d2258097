import SwiftDiagnostics
import SwiftParser
import SwiftSyntax

/// One of our attributes on a declaration, with its arguments by label.
struct MarkerArguments {
  /// The names of the markers of properties.
  static let names = ["Unique", "Attribute", "Relationship", "Transient"]

  /// The marker's name, without its module.
  let name: String
  /// The attribute as it is written.
  let node: AttributeSyntax
  /// The arguments; the one without a label has the label "".
  private let arguments: [String: ExprSyntax]

  init(_ node: AttributeSyntax) {
    self.node = node
    name = Self.name(of: node)
    var arguments: [String: ExprSyntax] = [:]
    if case .argumentList(let list) = node.arguments {
      for argument in list { arguments[argument.label?.text ?? ""] = argument.expression }
    }
    self.arguments = arguments
  }

  /// The name of an attribute; what another module declares has that module in its name.
  static func name(of node: AttributeSyntax) -> String {
    if let member = node.attributeName.as(MemberTypeSyntax.self),
      member.baseType.trimmedDescription == "DragomanEntities"
    {
      return member.name.text
    }
    return node.attributeName.trimmedDescription
  }

  /// The attributes of a list that have one of these names.
  static func all(in list: AttributeListSyntax, named names: [String]) -> [MarkerArguments] {
    list.compactMap { element in
      guard case .attribute(let node) = element, names.contains(name(of: node)) else { return nil }
      return MarkerArguments(node)
    }
  }

  /// The argument with that label; nil when it is not there, and when it is `nil`.
  subscript(_ label: String) -> ExprSyntax? {
    arguments[label].flatMap { $0.is(NilLiteralExprSyntax.self) ? nil : $0 }
  }

  /// Whether the argument is written at all, be it `nil`.
  func names(_ label: String) -> Bool { arguments[label] != nil }

  /// Whether the argument is the word `true`.
  func isTrue(_ label: String) -> Bool {
    arguments[label]?.as(BooleanLiteralExprSyntax.self)?.literal.tokenKind == .keyword(.true)
  }

  /// The text of a string literal, for names, which are part of the file: they cannot be computed.
  ///
  /// - Returns: The literal and its value; nil when there is none, or it is at fault.
  func literal(
    _ label: String,
    called what: String,
    instead: String,
    _ faults: inout EntityFaults
  ) -> (source: String, value: String)? {
    guard let expression = self[label] else { return nil }
    guard let value = expression.literalText else {
      faults.add(
        .name,
        at: expression,
        "\(what) is part of the database file and cannot be computed; write a string literal",
        fixIts: [FixIt("write \"\(instead)\"", .replace(expression, by: "\"\(instead)\""))]
      )
      return nil
    }
    return (expression.trimmedDescription, value)
  }
}

extension ExprSyntax {
  /// The value of a string literal without interpolations; nil for anything else.
  var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }

  /// Whether every evaluation gives the same value, as far as the spelling tells: literals, and members
  /// such as `.low`.
  ///
  /// A call may give another value each time (`UUID()`), and so may `.now`.
  var isConstant: Bool {
    switch self.as(ExprSyntaxEnum.self) {
    case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr: true
    case .stringLiteralExpr: literalText != nil
    case .prefixOperatorExpr(let prefix):
      prefix.operator.text == "-" && prefix.expression.isConstant
    case .memberAccessExpr(let member):
      member.declName.baseName.text != "now"
        && (member.base.map { $0.is(DeclReferenceExprSyntax.self) } ?? true)
    case .arrayExpr(let array): array.elements.allSatisfy { $0.expression.isConstant }
    case .dictionaryExpr(let dictionary): dictionary.content.is(TokenSyntax.self)
    default: false
    }
  }
}

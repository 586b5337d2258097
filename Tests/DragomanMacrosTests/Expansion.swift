/// What a macro makes of a declaration, and what it says of it.
struct Expansion {
  private let source: String
  private let diagnostics: [MacroPlugin.Answer.Diagnostic]
  /// The members and the extension; empty when there are none.
  let text: String

  /// Expands the `@Entity` of a source file with one declaration; the type is its full name, where it
  /// stands in another one, which begins with `outer`.
  init(_ source: String, type: String? = nil, in outer: String? = nil) throws {
    let name = try Self.nameOfType(in: source)
    var request = MacroPlugin.Request(
      macro: .init(typeName: "EntityMacro", name: "Entity"),
      macroRole: "extension",
      attributeSyntax: try Self.attribute("@Entity", in: source),
      declSyntax: MacroPlugin.Syntax("declaration", source),
      extendedTypeSyntax: MacroPlugin.Syntax("type", type ?? String(name)),
      conformanceListSyntax: MacroPlugin.Syntax(
        "declaration",
        "struct __Dummy: EntityValue, PersistentValue {}"
      )
    )
    if let outer { request.lexicalContext = [MacroPlugin.Syntax("declaration", "\(outer) {}")] }
    self.source = source
    let inExtension = try MacroPlugin.answer(request)
    request.macroRole = "member"
    request.extendedTypeSyntax = nil
    let inStruct = try MacroPlugin.answer(request)
    diagnostics = inExtension.diagnostics + inStruct.diagnostics
    text = [inStruct, inExtension].compactMap(\.expandedSource).filter { !$0.isEmpty }
      .joined(separator: "\n\n")
  }

  /// Expands the marker of a property in a declaration that begins in this way.
  init(property: String, marker: String, in owner: String) throws {
    source = property
    let answer = try MacroPlugin.answer(
      MacroPlugin.Request(
        macro: .init(typeName: "PropertyMarkerMacro", name: String(marker.dropFirst())),
        macroRole: "peer",
        attributeSyntax: Self.attribute(marker, in: property),
        declSyntax: MacroPlugin.Syntax("declaration", property),
        lexicalContext: [MacroPlugin.Syntax("declaration", "\(owner) {}")]
      )
    )
    text = answer.expandedSource ?? ""
    diagnostics = answer.diagnostics
  }

  /// The faults as `line:column message`.
  var faults: [String] {
    diagnostics.map { diagnostic in
      let before = source.utf8.prefix(diagnostic.position.offset).split(
        separator: UInt8(ascii: "\n"),
        omittingEmptySubsequences: false
      )
      let column = (before.last?.count ?? 0) + 1
      return "\(max(1, before.count)):\(column) \(diagnostic.message)"
    }
  }

  /// The source after each fix-it, by the fix-it's message.
  var fixed: [String: String] {
    var texts: [String: String] = [:]
    for fixIt in diagnostics.flatMap(\.fixIts) {
      var bytes = Array(source.utf8)
      for change in fixIt.changes.sorted(by: { $0.range.startOffset > $1.range.startOffset }) {
        bytes.replaceSubrange(
          change.range.startOffset..<change.range.endOffset,
          with: change.newText.utf8
        )
      }
      texts[fixIt.message] = String(decoding: bytes, as: UTF8.self)
    }
    return texts
  }

  /// The attribute, with its arguments.
  private static func attribute(_ marker: String, in source: String) throws -> MacroPlugin.Syntax {
    guard let start = source.firstRange(of: marker) else {
      throw MacroPlugin.NoAnswer(description: "there is no \(marker) in \(source)")
    }
    var end = start.upperBound
    if source[end...].first == "(" {
      var depth = 0
      repeat {
        if source[end] == "(" { depth += 1 }
        if source[end] == ")" { depth -= 1 }
        end = source.index(after: end)
      } while depth > 0
    }
    let offset = source.utf8.distance(from: source.startIndex, to: start.lowerBound)
    return MacroPlugin.Syntax("attribute", source[start.lowerBound..<end], at: offset)
  }

  private static func nameOfType(in source: String) throws -> Substring {
    let words = source.split { !$0.isLetter }
    guard
      let keyword = words.firstIndex(where: { ["struct", "class", "actor", "enum"].contains($0) })
    else { throw MacroPlugin.NoAnswer(description: "there is no type in \(source)") }
    return words[keyword + 1]
  }
}

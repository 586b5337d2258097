import SwiftDiagnostics
import SwiftSyntax

/// Reads a declaration with `@Entity`, and tells all that cannot work.
enum EntityReader {
  /// Reads the declaration.
  ///
  /// - Parameters:
  ///   - declaration: The declaration.
  ///   - marker: `@Entity`.
  ///   - context: What the declaration stands in, the nearest first.
  ///   - faults: Takes what cannot work.
  /// - Returns: What the expansion needs; nil when it is no struct. Whether it can be expanded is
  ///   told by the faults.
  static func read(
    _ declaration: some DeclGroupSyntax,
    marker: AttributeSyntax,
    in context: [Syntax],
    _ faults: inout EntityFaults
  ) -> EntityDeclaration? {
    guard let structure = declaration.as(StructDeclSyntax.self) else {
      refuse(declaration, marker: marker, &faults)
      return nil
    }
    let structName = structure.name.identifier?.name ?? structure.name.text
    if context.contains(where: \.isGeneric) {
      faults.add(
        .kind,
        at: structure.name,
        "an entity is one table, so '\(structName)' cannot stand in what is generic; move it out"
      )
    }
    tellIsolation(of: structure, &faults)
    tellUnboxing(by: structure, &faults)
    if let generics = structure.genericParameterClause {
      faults.add(
        .kind,
        at: generics,
        "an entity is one table, so '\(structName)' cannot be generic; declare a struct for each"
      )
    }
    var reader = PropertyReader(structName: structName)
    for member in structure.memberBlock.members { reader.read(member.decl, &faults) }
    tellClashes(of: reader.properties, &faults)
    let arguments = MarkerArguments(marker)
    let name = arguments.literal("", called: "The name", instead: structName, &faults)
    if let name, let problem = problem(inName: name.value) {
      faults.add(.name, at: arguments[""] ?? ExprSyntax(stringLiteral: ""), problem)
    }
    return EntityDeclaration(
      spelling: structure.name.text,
      access: access(of: structure),
      name: name?.source ?? "\"\(structName)\"",
      options: options(arguments, of: reader.properties, structName, &faults),
      renamedFrom: arguments.literal(
        "renamedFrom",
        called: "A name",
        instead: structName,
        &faults
      )?.source,
      properties: reader.properties,
      hasObjectID: reader.hasObjectID
    )
  }

  /// What is wrong with the name of an entity, an attribute or a relationship, if anything is.
  static func problem(inName name: String) -> String? {
    if name.isEmpty { return "a name cannot be empty" }
    if name.utf8.first == UInt8(ascii: "_") {
      return "names that start with \"_\" belong to Dragoman"
    }
    if name.lowercased().utf8.starts(with: "sqlite_".utf8) {
      return "names that start with \"sqlite_\" belong to SQLite"
    }
    return nil
  }

  // MARK: The kind of the declaration

  /// A value of an actor cannot be made and read by the threads of the store.
  private static func tellIsolation(
    of structure: StructDeclSyntax,
    _ faults: inout EntityFaults
  ) {
    for case .attribute(let attribute) in structure.attributes
    where attribute.attributeName.trimmedDescription.split(separator: ".").last == "MainActor" {
      faults.add(
        .kind,
        at: attribute,
        "an entity is a value for every thread, so '\(structure.name.text)' cannot be the main actor's",
        fixIts: [FixIt("remove @MainActor", .remove(attribute))]
      )
    }
  }

  /// What the macro writes cannot stand there already.
  private static func tellUnboxing(by structure: StructDeclSyntax, _ faults: inout EntityFaults) {
    for member in structure.memberBlock.members {
      guard let initializer = member.decl.as(InitializerDeclSyntax.self),
        let first = initializer.signature.parameterClause.parameters.first,
        first.firstName.text == "from", first.type.trimmedDescription.hasSuffix("UnboxingRow")
      else { continue }
      faults.add(
        .binding,
        at: initializer.initKeyword,
        "@Entity writes init(from:) itself; remove one of the two",
        fixIts: [FixIt("remove the initializer", .remove(initializer))]
      )
    }
  }

  private static func refuse(
    _ declaration: some DeclGroupSyntax,
    marker: AttributeSyntax,
    _ faults: inout EntityFaults
  ) {
    switch DeclSyntax(declaration).as(DeclSyntaxEnum.self) {
    case .classDecl(let node):
      // The list's own filter would give nodes of another tree.
      let finals = Array(node.modifiers).filter { ["final", "open"].contains($0.name.text) }
      refuse(
        node.name,
        "a class",
        node.classKeyword,
        [.replace(node.classKeyword, by: "struct")] + finals.map { .remove($0) },
        &faults
      )
    case .actorDecl(let node):
      refuse(
        node.name,
        "an actor",
        node.actorKeyword,
        [.replace(node.actorKeyword, by: "struct")],
        &faults
      )
    case .enumDecl(let node): refuse(node, marker: marker, &faults)
    default:
      faults.add(.kind, at: marker, "@Entity is for structs: an entity is declared as a value")
    }
  }

  private static func refuse(
    _ name: TokenSyntax,
    _ what: String,
    _ keyword: TokenSyntax,
    _ changes: [SourceChange],
    _ faults: inout EntityFaults
  ) {
    faults.add(
      .kind,
      at: keyword,
      """
      @Entity is for structs, and '\(name.text)' is \(what): an entity is declared as a value, \
      and Managed<\(name.text)> is its live object
      """,
      fixIts: [FixIt("make it a struct", changes)]
    )
  }

  private static func refuse(
    _ node: EnumDeclSyntax,
    marker: AttributeSyntax,
    _ faults: inout EntityFaults
  ) {
    let clause = node.inheritanceClause
    let conformance: SourceChange =
      if let last = clause?.inheritedTypes.last {
        .insert(", AttributeValue", behind: last)
      } else {
        .insert(": String, AttributeValue", behind: node.name)
      }
    faults.add(
      .kind,
      at: node.enumKeyword,
      """
      @Entity is for structs, and '\(node.name.text)' is an enum: an enum with raw values is the \
      type of an attribute
      """,
      fixIts: [
        FixIt("make it an AttributeValue", .remove(marker, of: node.attributes), conformance)
      ]
    )
  }

  /// The access of what the struct gets; nothing is internal, and enough for a private struct.
  private static func access(of structure: StructDeclSyntax) -> String {
    let access = access(ofField: structure.modifiers)
    return access == "fileprivate " ? "" : access
  }

  /// The access of the field of a property with these modifiers; nothing is internal.
  static func access(ofField modifiers: DeclModifierListSyntax) -> String {
    for modifier in modifiers where modifier.detail == nil {
      switch modifier.name.tokenKind {
      case .keyword(.public): return "public "
      case .keyword(.package): return "package "
      case .keyword(.fileprivate), .keyword(.private): return "fileprivate "
      default: break
      }
    }
    return ""
  }

  // MARK: The arguments of the macro

  private static func options(
    _ arguments: MarkerArguments,
    of properties: [PropertyDeclaration],
    _ structName: String,
    _ faults: inout EntityFaults
  ) -> [String] {
    var options: [String] = []
    if let table = arguments.literal("table", called: "The table", instead: structName, &faults) {
      options.append("table: \(table.source)")
    }
    if let parent = arguments["parent"] { options.append("parent: \(parent.trimmedDescription)") }
    if let flag = arguments["isAbstract"], flag.trimmedDescription != "false" {
      options.append("isAbstract: \(flag.trimmedDescription)")
    }
    // A key may also name what the parent has, which is not to be seen from here.
    let isRoot = arguments["parent"] == nil
    for (label, option) in [("unique", "uniqueKeys"), ("indexes", "indexes")] {
      guard let list = arguments[label] else { continue }
      let keys = keys(in: list, label, of: properties, isRoot: isRoot, &faults)
      options.append("\(option): [\(keys.joined(separator: ", "))]")
    }
    return options
  }

  /// The keys of a list of lists of names of properties, as lists of names of the entity.
  private static func keys(
    in list: ExprSyntax,
    _ label: String,
    of properties: [PropertyDeclaration],
    isRoot: Bool,
    _ faults: inout EntityFaults
  ) -> [String] {
    guard let lists = list.as(ArrayExprSyntax.self) else {
      faults.add(.key, at: list, "write \(label) as lists of names: \(label): [[\"a\", \"b\"]]")
      return []
    }
    var keys: [String] = []
    for element in lists.elements {
      guard let names = element.expression.as(ArrayExprSyntax.self), !names.elements.isEmpty else {
        faults.add(
          .key,
          at: element.expression,
          "write \(label) as lists of names: \(label): [[\"a\", \"b\"]]",
          fixIts: element.expression.is(StringLiteralExprSyntax.self)
            ? [
              FixIt(
                "make it a list",
                .replace(element.expression, by: "[\(element.expression.trimmedDescription)]")
              )
            ] : []
        )
        continue
      }
      let key = names.elements.compactMap { name in
        keyName(name.expression, of: properties, isRoot: isRoot, &faults)
      }
      keys.append("[\(key.joined(separator: ", "))]")
    }
    return keys
  }

  private static func keyName(
    _ expression: ExprSyntax,
    of properties: [PropertyDeclaration],
    isRoot: Bool,
    _ faults: inout EntityFaults
  ) -> String? {
    guard let text = expression.literalText else {
      faults.add(.key, at: expression, "name a property by a string literal")
      return nil
    }
    if let property = properties.first(where: { $0.swiftName == text }) { return property.name }
    if isRoot, !properties.contains(where: { $0.text == text }) {
      let names = properties.map(\.swiftName)
      let near = names.min { distance($0, text) < distance($1, text) }
      faults.add(
        .key,
        at: expression,
        "there is no property '\(text)'",
        fixIts: near.map { [FixIt("write \"\($0)\"", .replace(expression, by: "\"\($0)\""))] } ?? []
      )
    }
    return expression.trimmedDescription
  }

  /// How many letters must be changed, added or removed to make one word of the other.
  private static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right.lowercased())
    var row = Array(0...right.count)
    for (place, letter) in left.lowercased().enumerated() {
      var diagonal = row[0]
      row[0] = place + 1
      for (column, other) in right.enumerated() {
        let change = diagonal + (letter == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(change, row[column] + 1, row[column + 1] + 1)
      }
    }
    return row[right.count]
  }

  /// Names that differ in the case of ASCII letters only are one name to SQLite.
  private static func tellClashes(
    of properties: [PropertyDeclaration],
    _ faults: inout EntityFaults
  ) {
    var taken: [[UInt8]: String] = [:]
    for property in properties {
      let key = property.text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }
      if let earlier = taken.updateValue(property.text, forKey: key) {
        faults.add(
          .name,
          at: property.node.pattern,
          "'\(property.text)' clashes with '\(earlier)': SQLite ignores case in names"
        )
      }
    }
  }
}

extension Syntax {
  /// Whether it is a declaration with types as parameters.
  fileprivate var isGeneric: Bool {
    asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
  }
}

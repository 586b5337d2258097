import SwiftDiagnostics
import SwiftSyntax

/// Reads the stored properties of a struct, in declared order.
struct PropertyReader {
  /// The name of the struct.
  let structName: String
  private(set) var properties: [PropertyDeclaration] = []
  private(set) var hasObjectID = false

  init(structName: String) { self.structName = structName }

  /// Reads one member; what is no stored property of the value is passed over.
  mutating func read(_ member: DeclSyntax, _ faults: inout EntityFaults) {
    if let condition = member.as(IfConfigDeclSyntax.self) {
      refuse(condition, &faults)
      return
    }
    guard let variable = member.as(VariableDeclSyntax.self) else { return }
    let markers = MarkerArguments.all(in: variable.attributes, named: MarkerArguments.names)
    if variable.modifiers.contains(where: { ["static", "class"].contains($0.name.text) }) {
      refuse(markers, "a static property", &faults)
      return
    }
    // `var a, b: Int`: a type holds for the names before it, too.
    var types: [TypeSyntax?] = []
    for binding in variable.bindings.reversed() {
      let inherited = binding.initializer == nil ? types.last ?? nil : nil
      types.append(binding.typeAnnotation?.type ?? inherited)
    }
    for (binding, type) in zip(variable.bindings, types.reversed()) {
      if binding.isComputed {
        refuse(markers, "a computed property", &faults)
      } else {
        read(StoredVariable(variable, binding, type, markers), &faults)
      }
    }
  }

  private mutating func read(_ variable: StoredVariable, _ faults: inout EntityFaults) {
    guard let pattern = variable.binding.pattern.as(IdentifierPatternSyntax.self) else {
      faults.add(
        .binding,
        at: variable.binding.pattern,
        "a pattern cannot be a property of an entity; declare its names one by one"
      )
      return
    }
    let name = pattern.identifier.identifier?.name ?? pattern.identifier.text
    if let transient = variable.marker("Transient") {
      checkTransient(variable, transient, name, &faults)
      return
    }
    guard checkStorage(variable, name, &faults) else { return }
    guard let type = variable.type else {
      tellMissingType(variable, name, &faults)
      return
    }
    if isObjectID(type, name) {
      checkObjectID(variable, type, &faults)
    } else if let property = PropertyForm(
      variable,
      type: type,
      name: name,
      spelling: pattern.identifier.text,
      structName: structName
    ).declaration(&faults) {
      properties.append(property)
    }
  }

  // MARK: What is not stored, and what cannot be read back

  private func refuse(
    _ markers: [MarkerArguments],
    _ what: String,
    _ faults: inout EntityFaults
  ) {
    for marker in markers {
      faults.add(
        .marker,
        at: marker.node,
        "@\(marker.name) has no meaning for \(what): an entity has what its values store",
        fixIts: [FixIt("remove @\(marker.name)", .remove(marker.node))]
      )
    }
  }

  private func refuse(_ condition: IfConfigDeclSyntax, _ faults: inout EntityFaults) {
    for clause in condition.clauses {
      guard case .decls(let members) = clause.elements else { continue }
      for member in members {
        if let nested = member.decl.as(IfConfigDeclSyntax.self) { refuse(nested, &faults) }
        guard let variable = member.decl.as(VariableDeclSyntax.self),
          !variable.modifiers.contains(where: { $0.name.text == "static" }),
          variable.bindings.contains(where: { !$0.isComputed }),
          MarkerArguments.all(in: variable.attributes, named: ["Transient"]).isEmpty
        else { continue }
        faults.add(
          .binding,
          at: variable,
          """
          a property under #if would make different entities of one name, which is one table; \
          move it out, or mark it @Transient
          """
        )
      }
    }
  }

  private func checkTransient(
    _ variable: StoredVariable,
    _ transient: MarkerArguments,
    _ name: String,
    _ faults: inout EntityFaults
  ) {
    for marker in variable.markers where marker.name != "Transient" {
      faults.add(
        .marker,
        at: marker.node,
        "'\(name)' is transient and so no property of the entity; @\(marker.name) has no meaning",
        fixIts: [
          FixIt("remove @\(marker.name)", .remove(marker.node)),
          FixIt("remove @Transient", .remove(transient.node)),
        ]
      )
    }
    let isOptional =
      if let type = variable.type, case .optional = TypeForm(type) { true } else { false }
    let hasValue =
      variable.binding.initializer != nil || (isOptional && !variable.isLet) || variable.isLazy
    if !hasValue {
      faults.add(
        .transient,
        at: variable.binding.pattern,
        "'\(name)' is transient: a value that comes from the store needs something to put there",
        fixIts: [
          FixIt(
            "give it a value to begin with",
            .insert(
              " = <#value#>",
              behind: Syntax(variable.binding.typeAnnotation) ?? Syntax(variable.binding.pattern)
            )
          )
        ]
      )
    }
  }

  /// Whether unboxing can set the property.
  private func checkStorage(
    _ variable: StoredVariable,
    _ name: String,
    _ faults: inout EntityFaults
  ) -> Bool {
    let asTransient = FixIt("mark it @Transient", .insert("@Transient ", before: variable.node))
    if let lazy = variable.lazyModifier {
      faults.add(
        .binding,
        at: lazy,
        "'\(name)' is lazy: boxing would have to compute it; store it, or mark it @Transient",
        fixIts: [FixIt("remove lazy", .remove(lazy)), asTransient]
      )
      return false
    }
    if variable.isLet, variable.binding.initializer != nil {
      faults.add(
        .constant,
        at: variable.node.bindingSpecifier,
        """
        '\(name)' has its value already, so what the store holds cannot be put there; make it a \
        variable, or mark it @Transient
        """,
        fixIts: [
          FixIt("make it a variable", .replace(variable.node.bindingSpecifier, by: "var")),
          asTransient,
        ]
      )
      return false
    }
    return true
  }

  private func tellMissingType(
    _ variable: StoredVariable,
    _ name: String,
    _ faults: inout EntityFaults
  ) {
    let guess = variable.binding.initializer?.value.spelledType ?? "<#Type#>"
    faults.add(
      .annotation,
      at: variable.binding.pattern,
      "the type of '\(name)' must be written: a macro sees what is written only",
      fixIts: [FixIt("write the type", .insert(": \(guess)", behind: variable.binding.pattern))]
    )
  }

  // MARK: The object's id

  private func isObjectID(_ type: TypeSyntax, _ name: String) -> Bool {
    guard name == "objectID", case .named(let inner) = TypeForm(type).unwrapped() else {
      return false
    }
    return inner.trimmedDescription.split(separator: ".").last == "ObjectID"
  }

  private mutating func checkObjectID(
    _ variable: StoredVariable,
    _ type: TypeSyntax,
    _ faults: inout EntityFaults
  ) {
    hasObjectID = true
    refuse(variable.markers, "the id of the object", &faults)
    if variable.isLet {
      faults.add(
        .constant,
        at: variable.node.bindingSpecifier,
        "saving writes the id into the value; make it a variable",
        fixIts: [FixIt("make it a variable", .replace(variable.node.bindingSpecifier, by: "var"))]
      )
    }
    if case .named = TypeForm(type) {
      faults.add(
        .type,
        at: type,
        "a value has no id before it is saved; make it optional",
        fixIts: [FixIt("make it optional", .insert("?", behind: type))]
      )
    }
  }
}

/// One name of a stored `var` or `let`.
struct StoredVariable {
  let node: VariableDeclSyntax
  let binding: PatternBindingSyntax
  /// The type, also where it stands behind a later name.
  let type: TypeSyntax?
  let markers: [MarkerArguments]

  init(
    _ node: VariableDeclSyntax,
    _ binding: PatternBindingSyntax,
    _ type: TypeSyntax?,
    _ markers: [MarkerArguments]
  ) {
    self.node = node
    self.binding = binding
    self.type = type
    self.markers = markers
  }

  var isLet: Bool { node.bindingSpecifier.tokenKind == .keyword(.let) }
  var isLazy: Bool { lazyModifier != nil }
  var lazyModifier: DeclModifierSyntax? { node.modifiers.first { $0.name.text == "lazy" } }

  func marker(_ name: String) -> MarkerArguments? { markers.first { $0.name == name } }
}

extension PatternBindingSyntax {
  /// Whether there is a getter; observers do not make a property computed.
  var isComputed: Bool {
    switch accessorBlock?.accessors {
    case nil: false
    case .getter: true
    case .accessors(let accessors):
      !accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }
  }
}

extension ExprSyntax {
  /// The type of an initial value, where its spelling tells it.
  fileprivate var spelledType: String? {
    switch self.as(ExprSyntaxEnum.self) {
    case .integerLiteralExpr: return "Int"
    case .floatLiteralExpr: return "Double"
    case .booleanLiteralExpr: return "Bool"
    case .stringLiteralExpr: return "String"
    case .prefixOperatorExpr(let prefix): return prefix.expression.spelledType
    case .arrayExpr(let array):
      return array.elements.first?.expression.spelledType.map { "[\($0)]" }
    case .functionCallExpr(let call):
      let name = call.calledExpression.trimmedDescription
      return name.first?.isUppercase == true && !name.contains(".") ? name : nil
    case .memberAccessExpr(let member):
      let name = member.base?.trimmedDescription
      return name?.first?.isUppercase == true ? name : nil
    default: return nil
    }
  }
}

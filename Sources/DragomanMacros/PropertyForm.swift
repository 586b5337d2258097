import SwiftDiagnostics
import SwiftSyntax

/// A stored property and its type: whether it is an attribute or a relationship, as far as the
/// spelling tells, and what its markers make of it.
struct PropertyForm {
  enum Kind {
    /// A scalar, a list of scalars, or anything that is transformed or coded.
    case attribute
    /// A `Ref`, or several.
    case relationship
    /// A plain name: the compiler decides.
    case open
  }

  let variable: StoredVariable
  let type: TypeSyntax
  let name: String
  let spelling: String
  let structName: String
  let attribute: MarkerArguments?
  let relationship: MarkerArguments?
  let kind: Kind
  /// The form without the optional around it.
  let form: TypeForm
  /// Whether it is an array or a set.
  let isMany: Bool

  init(
    _ variable: StoredVariable,
    type: TypeSyntax,
    name: String,
    spelling: String,
    structName: String
  ) {
    self.variable = variable
    self.type = type
    self.name = name
    self.spelling = spelling
    self.structName = structName
    attribute = variable.marker("Attribute")
    relationship = variable.marker("Relationship")
    form = TypeForm(type).unwrapped()
    var element = form
    switch form {
    case .array(let inner), .set(let inner):
      isMany = true
      element = TypeForm(inner).unwrapped()
    default: isMany = false
    }
    if attribute?["by"] != nil || attribute?.isTrue("codable") == true {
      kind = .attribute
    } else if case .reference = element {
      kind = .relationship
    } else if element.scalar != nil {
      kind = .attribute
    } else {
      kind = .open
    }
  }

  /// What the expansion needs; nil when the type is at fault.
  func declaration(_ faults: inout EntityFaults) -> PropertyDeclaration? {
    guard checkType(&faults) else { return nil }
    checkMarkers(&faults)
    let given = (attribute ?? relationship)?.literal(
      "name",
      called: "A name",
      instead: name,
      &faults
    )
    if let problem = EntityReader.problem(inName: given?.value ?? name) {
      faults.add(
        .name,
        at: variable.binding.pattern,
        "\(problem); give it another one with @Attribute(name:)"
      )
    }
    if ["fields", "schema"].contains(name) {
      faults.add(
        .name,
        at: variable.binding.pattern,
        "@Entity declares \(name) itself; name the property otherwise, and its column by @Attribute(name:)"
      )
    }
    let options = options(&faults)
    return PropertyDeclaration(
      access: EntityReader.access(ofField: variable.node.modifiers),
      spelling: spelling,
      name: given?.source ?? "\"\(name)\"",
      text: given?.value ?? name,
      swiftName: name,
      options: options.arguments,
      settings: options.settings,
      isBoxedInPlace: !variable.isLet && kind != .attribute,
      node: variable.binding
    )
  }

  // MARK: The type

  private func checkType(_ faults: inout EntityFaults) -> Bool {
    if attribute?["by"] != nil { return true }
    if let flag = attribute?["codable"], !flag.is(BooleanLiteralExprSyntax.self) {
      faults.add(
        .marker,
        at: flag,
        "codable decides what the macro writes and cannot be computed; write true or false"
      )
      return false
    }
    if let what = TypeForm(type).unsupported {
      if attribute?.isTrue("codable") == true, what == "a dictionary" { return true }
      faults.add(
        .type,
        at: type,
        "'\(name)' is \(what), which no attribute can be; \(wayOut(of: what))",
        fixIts: typeFixIts(what)
      )
      return false
    }
    if case .optional = form, let wrapped = TypeForm(type).wrapped,
      attribute?.isTrue("codable") != true
    {
      faults.add(
        .type,
        at: type,
        "'\(name)' is an optional of an optional, and the store has one null; make it one optional",
        fixIts: [FixIt("make it one optional", .replace(type, by: wrapped.trimmedDescription))]
      )
      return false
    }
    if case .named(let inner) = form,
      ["Self", structName].contains(inner.trimmedDescription), kind == .open
    {
      let reference = "Ref<\(structName)>?"
      faults.add(
        .cycle,
        at: type,
        "a value of \(structName) inside of itself has no end; Ref holds which one it is, and no value",
        fixIts: [FixIt("write \(reference)", .replace(type, by: reference))]
      )
      return false
    }
    if kind == .relationship, isMany, case .optional = TypeForm(type) {
      faults.add(
        .type,
        at: type,
        "a to-many without objects is empty, not nil",
        fixIts: [FixIt("make it not optional", .replace(type, by: listType))]
      )
      return false
    }
    return true
  }

  var listType: String { (TypeForm(type).wrapped ?? type).trimmedDescription }

  private func wayOut(of what: String) -> String {
    switch what {
    case "a dictionary": "store it as JSON: @Attribute(codable: true)"
    case "a tuple": "declare a struct that is a CodableValue"
    case "an implicitly unwrapped optional": "make it optional"
    default: "transform it by @Attribute(by:), or mark it @Transient"
    }
  }

  private func typeFixIts(_ what: String) -> [FixIt] {
    switch what {
    case "a dictionary" where attribute == nil:
      return [
        FixIt("store it as JSON", .insert("@Attribute(codable: true) ", before: variable.node))
      ]
    case "an implicitly unwrapped optional":
      guard let forced = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) else { return [] }
      return [FixIt("make it optional", .replace(forced.exclamationMark, by: "?"))]
    default:
      return variable.markers.isEmpty
        ? [FixIt("mark it @Transient", .insert("@Transient ", before: variable.node))] : []
    }
  }
}

extension TypeForm {
  /// The types of values that the store has, by their names.
  private static let scalars: Set<String> = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    "Float", "Double", "Decimal", "Date", "Data", "UUID", "URL", "String",
    "Duration", "CalendarDuration",
  ]

  /// The types of attributes that hold a number of a type, the usual one first; nil for all that is no number.
  static func types(ofNumber scalar: String) -> [String]? {
    switch scalar {
    case "Float", "Double": ["double", "float"]
    case _ where scalar.hasPrefix("Int") || scalar.hasPrefix("UInt"): ["int64", "int32", "int16"]
    default: nil
    }
  }

  /// The name of a scalar; nil for everything else.
  var scalar: String? {
    guard case .named(let type) = self else { return nil }
    let parts = type.trimmedDescription.split(separator: ".")
    guard let name = parts.last.map(String.init), Self.scalars.contains(name),
      parts.count == 1 || ["Swift", "Foundation"].contains(parts[0])
    else { return nil }
    return name
  }
}

import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes what makes a struct an `EntityValue`, as one would write it by hand: a field a property, in
/// slots from 0 in declared order; unboxing and boxing by these fields.
///
/// All that repeats expressions of the declaration stands in the struct, where their names mean what they
/// mean in the declaration. The initializer stands in the extension: in the struct it would take the place
/// of the memberwise one.
struct EntityExpansion {
  let entity: EntityDeclaration

  private var access: String { entity.access }

  // MARK: In the struct

  /// `Fields`, `fields`, `schema` and `box(into:)`.
  var members: [DeclSyntax] {
    [fields, "\(raw: access)static let fields = Fields()", schema, boxing]
  }

  private var fields: DeclSyntax {
    let lines = entity.properties.enumerated().map { slot, property in
      let path = "\\" + entity.spelling + "." + property.spelling
      let arguments = ["\(slot)", property.name, path] + property.options
      let settings = property.settings.joined(separator: "\n")
      return "\(property.access)let \(property.spelling) = DragomanGraph.Field("
        + arguments.joined(separator: ", ") + ")" + (settings.isEmpty ? "" : " {\n\(settings)\n}")
        + "\n"
    }
    return "\(raw: access)struct Fields: Sendable {\n\(raw: lines.joined())}"
  }

  private var schema: DeclSyntax {
    let fields = entity.properties.map { "fields.\($0.spelling)" }.joined(separator: ", ")
    let arguments = ([entity.name] + entity.options + ["[\(fields)]"]).joined(separator: ", ")
    let type = "DragomanGraph.EntitySchema<\(entity.spelling)>"
    let change = entity.renamedFrom.map { ".with { $0.renamedFrom = \($0) }" } ?? ""
    return "\(raw: access)static let schema = \(raw: type)(\(raw: arguments))\(raw: change)"
  }

  private var boxing: DeclSyntax {
    let lines = entity.properties.map { property in
      let value = (property.isBoxedInPlace ? "&" : "") + "self.\(property.spelling)"
      return "try row.set(Self.fields.\(property.spelling), \(value))\n"
    }
    return """
      \(raw: access)mutating func box(into row: inout DragomanGraph.BoxingRow) throws {
      \(raw: lines.joined())}
      """
  }

  // MARK: In the extension

  /// The conformance and `init(from:)`.
  ///
  /// - Parameters:
  ///   - type: The struct's full name.
  ///   - protocols: Those of the macro's protocols that the struct does not conform to already.
  /// - Returns: The extension.
  /// - Throws: Where the text is no Swift, which it always is.
  func conformance(of type: String, to protocols: [String]) throws -> ExtensionDeclSyntax {
    let wanted = ["EntityValue"] + (entity.hasObjectID ? ["PersistentValue"] : [])
    // The compiler names them with or without their module.
    let missing = wanted.filter { name in
      protocols.contains { $0.split(separator: ".").last == Substring(name) }
    }
    let names = missing.map { "DragomanGraph.\($0)" }.joined(separator: ", ")
    return try ExtensionDeclSyntax(
      "extension \(raw: type)\(raw: names.isEmpty ? "" : ": " + names)"
    ) {
      unboxing
    }
  }

  private var unboxing: DeclSyntax {
    var lines = entity.properties.map { property in
      "self.\(property.spelling) = try row[Self.fields.\(property.spelling)]\n"
    }
    if entity.hasObjectID { lines.append("self.objectID = row.objectID\n") }
    return """
      \(raw: access)init(from row: borrowing DragomanGraph.UnboxingRow) throws {
      \(raw: lines.joined())}
      """
  }
}

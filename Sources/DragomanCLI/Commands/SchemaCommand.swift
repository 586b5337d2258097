import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman schema`: prints the model of a map or of a database.
struct SchemaCommand: ParsableCommand {
  /// How a model is written.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    /// Entities with their properties, for people.
    case text
    /// The statements that make the tables.
    case sql
    /// The model as the file keeps it.
    case json
    /// An entity relationship diagram of Mermaid.
    case mermaid
    /// A graph of Graphviz.
    case dot
  }

  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the model of a map or of a database, as text, SQL, JSON or a diagram.",
    discussion: """
      Exit codes: 0 done, 64 usage, 65 the map is faulty or the file no database of Dragoman, \
      66 no such file.
      """
  )

  @Option(name: .shortAndLong, help: "The map: a .map.yaml or .map.json file.")
  var map: String?

  @OptionGroup
  var databaseOptions: DatabaseOptions

  @Option(name: .shortAndLong, help: "The format.")
  var format = Format.text

  @Flag(help: "Print the JSON Schema of map files instead, for editors.")
  var mapLanguage = false

  func validate() throws {
    if mapLanguage {
      guard map == nil, databaseOptions.named == nil else {
        throw ValidationError("The map language is the same for all maps: leave out -m and -d.")
      }
      return
    }
    guard map == nil || databaseOptions.named == nil else {
      throw ValidationError("Name either a map with -m or a database with -d, not both.")
    }
  }

  func run() throws {
    if mapLanguage { return try OutputBuffer.print(MapLanguage.schema) }
    let model = try model()
    try OutputBuffer.print(try Self.text(of: model, as: format))
  }

  private func model() throws -> Model {
    if let map { return try ImportMap(contentsOf: map).model() }
    var database = databaseOptions
    try database.resolve()
    if let server = database.server { return try server.model() }
    let store = try database.open(SQLiteStore.Options(isReadOnly: true, createsFile: false))
    let model = store.model
    try store.close()
    return model
  }

  /// The model in a format, with a line break at its end.
  static func text(of model: Model, as format: Format) throws -> String {
    switch format {
    case .text: return ModelText.text(of: model)
    case .sql: return model.sqlStatements.map { $0 + ";\n" }.joined()
    case .mermaid: return ModelDiagram(model).mermaid
    case .dot: return ModelDiagram(model).dot
    case .json:
      return try JSONDocument.text(Document(entities: model.entities), isPretty: true) + "\n"
    }
  }

  private struct Document: Encodable {
    let v = 1
    let entities: [Entity]
  }
}

import ArgumentParser
import Dragoman
import DragomanGraph
import DragomanPostgreSQL
import Foundation

/// `dragoman migrate MAP -d DB`: changes a database to the model of a map.
struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Change a database to what a map says: other names, types, keys, relationships.",
    discussion: """
      The plan is printed, the data is checked, and everything is done in one transaction. What has \
      another name says so in the map with renamedFrom. What the map does not name stays, unless \
      --drop is given.

      Exit codes: 0 done (or nothing to do), 65 something is in the way or the map is faulty, \
      66 no such file, 69 no such server, 75 another process is writing, 77 a missing privilege.
      """
  )

  @Argument(
    help: "The map: a .map.yaml or .map.json file.",
    completion: .file(extensions: ["yaml", "json"])
  )
  var map: String

  @OptionGroup
  var databaseOptions: DatabaseOptions

  private var database: String { databaseOptions.shown }

  @Flag(help: "Print the plan and what is in the way, and change nothing.")
  var dryRun = false

  @Flag(help: "Drop what the map does not name, with its values.")
  var drop = false

  @Flag(help: "Print one JSON document on standard output.")
  var json = false

  mutating func run() throws {
    try databaseOptions.resolve(tells: !dryRun)
    let model = try ImportMap(contentsOf: map).model()
    let migration = try migration(to: model)
    try OutputBuffer.print(json ? try document(of: migration) : text(of: migration))
    guard migration.faults.isEmpty else {
      throw ToolError(faults: migration.faults, in: database)
    }
  }

  /// Migrates, or says what is to be done.
  private func migration(to model: Model) throws -> Migration {
    if let server = databaseOptions.server {
      let store = try server.store()
      defer { store.end() }
      let planned = try store.migration(to: model, drops: drop)
      guard !dryRun, planned.faults.isEmpty else { return planned }
      return try store.migrate(to: model, drops: drop)
    }
    let store = try SQLiteStore(
      at: .file(database),
      options: SQLiteStore.Options(
        isReadOnly: dryRun,
        createsFile: false,
        readsConcurrently: false
      )
    )
    let planned = try store.migration(to: model, drops: drop)
    let migration =
      dryRun || !planned.faults.isEmpty ? planned : try store.migrate(to: model, drops: drop)
    try store.close()
    return migration
  }

  /// The plan, and what became of it.
  private func text(of migration: Migration) -> String {
    guard !migration.isEmpty else { return "\(database) has the model of \(map) already.\n" }
    let steps = migration.steps.enumerated().map { "\($0 + 1). \($1.sentence)\n" }.joined()
    let count = Figures.count(migration.steps.count, "step")
    let end =
      if !migration.faults.isEmpty {
        "\(database) cannot be migrated; nothing was changed.\n"
      } else if dryRun {
        "\(database): \(count) to do; nothing was changed.\n"
      } else {
        "\(database): \(count) done.\n"
      }
    return steps + end
  }

  private struct Document: Encodable {
    let v = 1
    let status: String
    let dryRun: Bool
    let steps: [Migration.Step]
    let faults: [String]
  }

  /// The plan for programs; its status is `none`, `planned`, `done` or `refused`.
  private func document(of migration: Migration) throws -> String {
    let status =
      if !migration.faults.isEmpty {
        "refused"
      } else if migration.isEmpty {
        "none"
      } else {
        dryRun ? "planned" : "done"
      }
    let document = Document(
      status: status,
      dryRun: dryRun,
      steps: migration.steps,
      faults: migration.faults.map(ToolWords.spelled)
    )
    return try JSONDocument.text(document) + "\n"
  }
}

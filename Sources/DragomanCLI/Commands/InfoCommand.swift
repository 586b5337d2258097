import ArgumentParser
import DragomanGraph
import Foundation

/// `dragoman info -d DB`: tells what a database holds.
struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Print what a database holds: objects, links, what waits, the last import.",
    discussion: """
      Stubs are objects of which only a key is known (onUnresolved: stub), pending references wait \
      for their target (onUnresolved: pending). Every table is read once.

      Exit codes: 0 done, 65 no database of Dragoman or damaged, 66 no such file.
      """
  )

  @OptionGroup
  var databaseOptions: DatabaseOptions

  private var database: String { databaseOptions.shown }

  @Flag(help: "List all stubs and pending references, not the first five of each kind.")
  var all = false

  @Flag(help: "Print one JSON document on standard output.")
  var json = false

  mutating func run() throws {
    try databaseOptions.resolve()
    let store = try databaseOptions.open(SQLiteStore.Options(isReadOnly: true, createsFile: false))
    let contents = try store.contents(examples: all ? nil : 5)
    try store.close()
    let distribution = try databaseOptions.server?.distribution()
    try OutputBuffer.print(
      json
        ? try ContentsJSON(contents, file: database, distribution).text()
        : ContentsText(contents, file: database, distribution).text
    )
  }
}

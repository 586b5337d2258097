import ArgumentParser
import DragomanGraph
import Foundation

/// `dragoman delete ENTITY -d DB --where PREDICATE`: deletes objects by the delete rules of the model.
struct DeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete the objects of an entity that satisfy a predicate.",
    usage: "dragoman delete <entity> -d <database> --where <predicate> [<options>]",
    discussion: """
      Relationships of the objects do what their delete rules say: nullify clears the links, cascade \
      deletes the targets too, deny keeps the objects and with them all the others. What would go is \
      told and asked for first; without a terminal --yes is the answer.

        dragoman delete Person -d people.db --where 'lastName == "Berg"' --dry-run
        dragoman delete Person -d people.db --where 'company == nil' --yes

      Exit codes: 0 done, or nothing matches, 64 usage, no such entity, or nobody to ask, 65 a delete \
      rule keeps objects (nothing is deleted), 66 no such file, 75 database busy, 130 answered with no.
      """
  )

  @Argument(
    help: "The entity, as the map names it.",
    completion: .custom { words, _, _ in Suggestions(words).entities }
  )
  var entity: String

  @OptionGroup
  var databaseOptions: DatabaseOptions

  private var database: String { databaseOptions.shown }

  @OptionGroup
  var condition: PredicateOptions

  @Flag(help: "Delete all objects of the entity: in place of --where.")
  var all = false

  @Flag(help: "Tell what would go, and delete nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @Flag(help: "Print one JSON document on standard output.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print no report; questions and errors are printed.")
  var quiet = false

  func validate() throws {
    if all == (condition.predicate != nil) {
      throw ValidationError(
        all
          ? "--all and --where exclude each other."
          : "Which objects? Say --where PREDICATE, or --all for all of the entity."
      )
    }
    if dryRun && yes { throw ValidationError("--dry-run and --yes exclude each other.") }
  }

  mutating func run() throws {
    try databaseOptions.resolve(tells: !quiet && !dryRun)
    let request = FetchRequest(entity, filter: try condition.filter())
    let (deletion, isRefused): (Deletion, Bool)
    if let server = try databaseOptions.server?.store() {
      defer { server.end() }
      (deletion, isRefused) = try self.deletion(of: request) { [dryRun] in
        try server.delete(request, isDryRun: dryRun, proceeds: $0)
      }
    } else {
      let options = SQLiteStore.Options(
        isReadOnly: dryRun,
        createsFile: false,
        readsConcurrently: false
      )
      let store = try databaseOptions.open(options)
      (deletion, isRefused) = try self.deletion(of: request) {
        try store.delete(request, proceeds: $0)
      }
      try store.close()
    }
    let report = DeletionReport(deletion, of: request, from: database)
    do throws(OutputError) {
      if json { try OutputBuffer.print(report.json(isDryRun: dryRun)) }
      if !quiet && !json && report.error == nil && !isRefused {
        try OutputBuffer.print(report.text)
      }
    } catch {
      if deletion.isDone {
        Messages.print("note: the objects are deleted; only that cannot be told\n")
      }
      throw error
    }
    if let error = report.error { throw error }
    if isRefused { throw ExitCode(128 + SIGINT) }
  }

  /// Asks until what was asked for is what is there, then deletes it.
  private func deletion(
    of request: FetchRequest,
    _ delete: ((Deletion) throws -> Bool) throws -> Deletion
  ) throws -> (Deletion, isRefused: Bool) {
    if yes || dryRun { return (try delete { _ in true }, false) }
    var expected: Deletion?
    while true {
      // Nobody else waits while people think: what they were told is compared with what is there then.
      let found = try delete { $0 == expected }
      if found.isDone || found.counts.isEmpty || !found.protections.isEmpty {
        return (found, false)
      }
      let report = DeletionReport(found, of: request, from: database)
      switch Question.isAgreed(report.question) {
      case true?: expected = found
      case false?: return (found, true)
      case nil: throw ToolError.noTerminal
      }
    }
  }
}

import DragomanGraph

/// What a page shows, for people and for programs.
struct PageAnswer {
  /// The title.
  var title: String
  /// The template's name.
  var template: String
  /// What the template shows.
  var view: Any
  /// The same as JSON.
  var json: JSONValue
  /// The status; 400 where the page shows a fault of what was asked.
  var status = 200
  /// After how many seconds it is loaded again where no script runs; nil: never.
  var refresh: Int?
}

/// What all pages read from.
struct PageSources: Sendable {
  /// The database.
  let database: ConsoleDatabase
  /// How many objects there are.
  let counts: CountBoard
  /// The maps.
  let maps: MapShelf
  /// The imports that pages have begun.
  let jobs: JobBoard
  /// The rejects files.
  let rejects: RejectShelf
  /// What forms have in `csrf`.
  let formToken: String
  /// Whether anything may be written.
  let allowsWriting: Bool
}

import Dragoman
import DragomanGraph
import Foundation

/// The map that lies beside a database: guessed of its first feed, and grown by feeds of other shapes.
struct GuessedMap {
  let map: ImportMap
  private let path: String
  private let output: MapOutput
  /// What the file has now; nil: there is none.
  private let old: String?
  private let new: String
  private let addedCount: Int
  /// What may be wrong with the feeds themselves.
  private let warnings: [String]
  /// Places of the feeds that the map does not read.
  private let unread: [String]
  /// The sources that read the feeds, by the names of these.
  let sources: [String: [String]]

  /// Reads the map where there is one, and guesses what it lacks for the feeds.
  ///
  /// - Parameters:
  ///   - database: The database file; or a server, whose map lies in the current folder.
  ///   - inputs: The feeds, of one shape.
  /// - Throws: `MapFaults` for a map that is faulty or cannot be added to, `ReadError` for what is no feed,
  ///   `StoreError` where the database cannot be read.
  init(besides database: DatabaseOptions, for inputs: [ImportInput]) throws {
    path = try Self.path(besides: database)
    for input in inputs { try Self.check(input.name) }
    let options = SQLiteStore.Options(
      isReadOnly: true,
      createsFile: false,
      readsConcurrently: false
    )
    let isThere =
      database.server != nil || FileManager.default.fileExists(atPath: database.shown)
    let store = isThere ? try database.open(options) : nil
    defer { try? store?.close() }
    var known: ImportMap?
    var text: String?
    if FileManager.default.fileExists(atPath: path) {
      known = try ImportMap(contentsOf: path)
      text = try String(contentsOfFile: path, encoding: .utf8)
    }
    let guess = try MapGuess(of: inputs, addingTo: known, text: text ?? "", store: store)
    (old, new) = (text, guess.text)
    let kept = OutputPlace.Kept.database(database.server == nil ? database.shown : nil)
    output = MapOutput(
      path,
      besides: kept + MapOutput.kept(inputs),
      overwrites: old != nil,
      help: "run it again: what it lacks is added to it"
    )
    map = try ImportMap(yaml: new, file: path)
    warnings = guess.warnings
    unread = guess.unread
    addedCount = map.entities.count - (known?.entities.count ?? 0)
    sources = Dictionary(inputs.map { ($0.name, guess.sources) }) { first, _ in first }
  }

  /// Where the map lies: beside a file; for a server in the current folder, named after the database, and the schema
  /// where that is not `public`.
  private static func path(besides database: DatabaseOptions) throws -> String {
    guard let server = database.server else {
      let stem = FilePath.stem(of: database.shown)
      return FilePath.file(stem + ".map.yaml", in: FilePath.folder(of: database.shown))
    }
    let place = try server.place()
    let schema = place.schema.flatMap { $0 == "public" ? nil : ".\($0)" } ?? ""
    return (place.database + schema).replacing("/", with: "_") + ".map.yaml"
  }

  /// Refuses what can be read only once.
  private static func check(_ path: String) throws {
    guard let kind = FileStatus(path)?.kind, kind != .regular else { return }
    throw ReadError(
      .unsupported,
      "\(path) can be read only once, and a guess reads the feeds before the import does.",
      help: "save it as a file first"
    )
  }

  /// Refuses a place where the map may not stand.
  ///
  /// - Throws: `ExportError`, `.output`.
  func check() throws(ExportError) {
    if new != old { try output.check() }
  }

  /// Writes the map, where it is new or has grown.
  ///
  /// - Throws: `ExportError` where it cannot be written.
  func save() throws(ExportError) {
    guard new != old else { return }
    try output.write(new)
  }

  /// What was guessed, for people.
  ///
  /// - Parameter isKept: Whether the map was written.
  /// - Returns: A line, and one for each warning.
  func note(isKept: Bool) -> String? {
    let doubts = warnings.map { "warning: \($0)\n" }.joined()
    guard new != old else { return "note: the map is \(path)\(unreadText)\n" + doubts }
    let entities = Figures.count(addedCount, "entity", "entities")
    let what = old == nil ? "was guessed: \(entities)" : "has grown by \(entities)"
    return isKept
      ? "note: the map \(path) \(what); read it, and correct what you know better\n" + doubts
      : "note: the map \(path) would be written: \(entities)\n" + doubts
  }

  /// What the map does not read of the feeds.
  private var unreadText: String {
    guard !unread.isEmpty else { return "" }
    let more = unread.count > 5 ? " and \(unread.count - 5) more" : ""
    let places = unread.prefix(5).joined(separator: ", ")
    return ", and does not read \(places)\(more): dragoman check --coverage tells more"
  }
}

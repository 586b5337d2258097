import Dragoman
import DragomanGraph

/// Which imports wrote an object, as far as they are recorded.
struct OriginsPage {
  private struct Row {
    let run: RunRow
    let change: ChangeView
  }

  private struct View {
    let key: String
    let address: String
    let rows: [Row]
    let isEmpty: Bool
    let note: String?
  }

  /// So many recorded imports are looked through.
  private static let searchedCount = 12

  /// - Throws: `ConsoleError`, 404, where there is no such object.
  static func answer(
    _ name: String,
    _ number: String,
    _ sources: PageSources
  ) throws -> PageAnswer {
    let store = try sources.database.open()
    let model = store.model
    let shape = try EntityShape(name, in: model)
    guard let key = Int64(number),
      let label = try ObjectLabels.labels(
        of: [ObjectID(entity: shape.root, primaryKey: key)],
        name,
        store
      ).values.first
    else { throw ConsoleError(404, "There is no \(name) in row \(number).") }
    let keyPaths = shape.keyPaths(in: model)
    let wanted = try values(keyPaths, ObjectID(entity: shape.root, primaryKey: key), name, store)
    var rows: [Row] = []
    var note: String?
    let runs = try store.history().reversed().filter { $0.status == .done && $0.undoes == nil }
    if keyPaths.isEmpty {
      note = "\(name) has no unique key: its objects cannot be told apart in the history."
    }
    for run in runs.prefix(searchedCount) where !keyPaths.isEmpty {
      do {
        try store.changes(ofImport: run.id ?? 0) { change in
          guard change.entity == name, change.key.map(\.value) == wanted else { return }
          rows.append(Row(run: RunRow(run), change: ChangeView(change)))
        }
      } catch let error as StoreError {
        // Nothing is kept of earlier ones either.
        note = error.message
        break
      }
    }
    if note == nil, runs.count > searchedCount {
      note = "The last \(searchedCount) imports were looked through."
    }
    return PageAnswer(
      title: "Origins of \(label.key)",
      template: "origins",
      view: View(
        key: "\(name) \(label.key)",
        address: label.address,
        rows: rows,
        isEmpty: rows.isEmpty,
        note: note
      ),
      json: [
        "v": 1, "key": .string(label.key), "note": JSONValue(note),
        "imports": .array(rows.map { .string($0.run.id) }),
      ]
    )
  }

  private static func values(
    _ paths: [String],
    _ id: ObjectID,
    _ entity: String,
    _ store: SQLiteStore
  ) throws -> [StoredValue] {
    guard !paths.isEmpty else { return [] }
    var values: [StoredValue] = []
    let request = FetchRequest(
      entity,
      filter: ObjectPage.isObject(id),
      columns: paths.map { FetchColumn($0) }
    )
    try store.forEachRow(request) { values = $0.values }
    return values
  }
}

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
    let note: String
  }

  /// - Throws: `ConsoleError`, 404, where there is no such object.
  static func answer(
    _ name: String,
    _ number: String,
    _ sources: PageSources
  ) throws -> PageAnswer {
    let store = try sources.database.open()
    let shape = try EntityShape(name, in: store.model)
    guard let key = Int64(number) else {
      throw ConsoleError(404, "There is no \(name) in row \(number).")
    }
    let id = ObjectID(entity: shape.root, primaryKey: key)
    let origins = try store.origins(of: id)
    guard let label = try ObjectLabels.labels(of: [id], name, store)[id] else {
      throw ConsoleError(404, "There is no \(name) in row \(number).")
    }
    let runs = try Dictionary(store.history().compactMap { run in run.id.map { ($0, run) } }) { $1 }
    let rows = try origins.compactMap { origin -> Row? in
      guard let run = runs[origin.run] else { return nil }
      let change = try ChangeView(origin, name, label.key) { link, ids in
        let target = shape.relationships.first { $0.name == link }?.destination ?? shape.root
        let labels = try ObjectLabels.labels(of: ids, target, store)
        return ids.map { labels[$0]?.text ?? "#\($0.primaryKey)" }
      }
      return Row(run: RunRow(run), change: change)
    }
    let note =
      "What the last recorded imports did is kept, but not what an object came with; earlier ones may have written it, too."
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
        "v": 1, "key": .string(label.key), "note": .string(note),
        "imports": .array(rows.map { .string($0.run.id) }),
        "changes": .array(rows.map { $0.change.json }),
      ]
    )
  }
}

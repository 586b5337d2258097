import DragomanGraph

/// Changes of results as NDJSON: first what there is, then each step.
///
///     {"event":"snapshot","v":1,"count":2}
///     {"event":"row","at":0,"id":"dragoman:///Person/1","values":{"name":"Ada"}}
///     {"event":"row","at":1,"id":"dragoman:///Person/2","values":{"name":"Bo"}}
///     {"event":"moved","from":1,"to":0,"id":"dragoman:///Person/2"}
///
/// Places are those at the moment of the step, from 0. Values are null where a row was deleted
/// before they were read; its deletion follows.
struct WatchEventWriter: WatchDisplay {
  private let rows: JSONRowWriter
  private let output: OutputBuffer

  init(_ attributes: [Attribute], to output: OutputBuffer) {
    rows = JSONRowWriter(attributes, to: output, isArray: false)
    self.output = output
  }

  var takesScreen: Bool { false }

  mutating func wanted(_ event: ResultEvent, _ now: ResultSnapshot) -> [ObjectID] {
    switch event {
    case .snapshot(let snapshot): return snapshot.ids
    case .difference(let difference):
      return difference.changes.compactMap { change in
        switch change {
        case .inserted(let id, _), .updated(let id, _): id
        default: nil
        }
      }
    case .ended: return []
    }
  }

  mutating func show(_ event: ResultEvent, _ values: [ObjectID: [StoredValue]]) throws {
    switch event {
    case .snapshot(let snapshot):
      try output.write("{\"event\":\"snapshot\",\"v\":1,\"count\":\(snapshot.count)}\n")
      for (place, id) in snapshot.ids.enumerated() {
        try write("row", "\"at\":\(place)", id, values)
      }
    case .difference(let difference):
      for change in difference.changes {
        switch change {
        case .inserted(let id, let place):
          try write("inserted", "\"at\":\(place.row)", id, values)
        case .updated(let id, let place):
          try write("updated", "\"at\":\(place.row)", id, values)
        case .deleted(let id, let place):
          try write("deleted", "\"at\":\(place.row)", id, nil)
        case .moved(let id, let from, let to):
          try write("moved", "\"from\":\(from.row),\"to\":\(to.row)", id, nil)
        case .sectionInserted, .sectionDeleted, .sectionMoved, .sectionUpdated:
          // There are no sections.
          break
        }
      }
    case .ended: break
    }
    try output.flush()
  }

  mutating func redraw() {}

  mutating func finish() throws { try output.flush() }

  private func write(
    _ event: String,
    _ place: String,
    _ id: ObjectID,
    _ values: [ObjectID: [StoredValue]]?
  ) throws(OutputError) {
    try output.write("{\"event\":\"\(event)\",\(place),\"id\":\(JSONRowWriter.string(id.uri))")
    if let values {
      try output.write(",\"values\":")
      if let row = values[id] { try rows.writeObject(row) } else { try output.write("null") }
    }
    try output.write("}\n")
  }
}

import Dragoman
import DragomanGraph

/// The first objects of a predicate and an order, as they change.
struct LivePage {
  private struct Heading {
    let name: String
    let isNumber: Bool
  }

  private struct Row {
    let id: String
    let address: String
    /// What its link is called.
    let label: String
    let cells: [CellView]
  }

  private struct View {
    let name: String
    let address: String
    let profile: String
    let live: String
    let predicate: String
    let hasPredicate: Bool
    let count: String
    let headings: [Heading]
    let rows: [Row]
    let events: String
  }

  /// The page as it is now; its script follows the events.
  static func answer(
    _ name: String,
    _ request: ConsoleRequest,
    _ sources: PageSources
  ) throws -> PageAnswer {
    let store = try sources.database.open()
    let (query, table, fetch) = try self.request(name, request, store)
    let attributes = try store.attributes(of: fetch)
    var rows: [Row] = []
    var json: [JSONValue] = []
    try store.forEachRow(fetch) { row in
      let (cells, members) = table.cells(row.values, attributes)
      rows.append(
        Row(
          id: row.objectID.uri,
          address: ObjectLabel.address(of: row.objectID, in: row.entityName),
          label: EntityPage.rowLabel(row.entityName, cells),
          cells: cells
        )
      )
      json.append(.object([("_id", .string(row.objectID.uri))] + members))
    }
    let view = View(
      name: name,
      address: query.address(of: name),
      profile: query.address(of: name, "profile"),
      live: query.address(of: name, "live"),
      predicate: query.predicate,
      hasPredicate: !query.predicate.isEmpty,
      count: count(rows.count, query),
      headings: table.shown.map {
        Heading(name: $0.name, isNumber: $0.attribute?.type.isNumeric ?? false)
      },
      rows: rows,
      events: query.address(of: name, "events")
    )
    return PageAnswer(
      title: "\(name), live",
      template: "live",
      view: view,
      json: ["v": 1, "entity": .string(name), "rows": .array(json)],
      refresh: 5
    )
  }

  /// The rows whenever something of them changed: whatever happens within a fifth of a second is one event.
  ///
  /// They end where another file has the database's name: who looks asks anew, and is told of that one.
  static func events(
    _ name: String,
    _ request: ConsoleRequest,
    _ sources: PageSources
  ) throws -> ConsoleResponse {
    let stop = Cancellation()
    var options = SQLiteStore.Options(isReadOnly: true, createsFile: false)
    options.shouldStop = { stop.isCancelled }
    let path = sources.database.path
    let file = FileStatus(path)?.identity
    let store = try SQLiteStore(at: .file(path), options: options)
    let (query, table, fetch) = try self.request(name, request, store)
    let attributes = try store.attributes(of: fetch)
    return ConsoleResponse(
      type: "text/event-stream",
      .events {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
          let task = Task {
            do {
              let results = try await store.results(fetch, pollingEvery: .milliseconds(500))
              for try await _ in results.events() {
                let ids = results.snapshot.ids
                let values = try await results.elements(of: ids)
                let rows = ids.compactMap { id in
                  values[id].map { row(id, table.cells($0, attributes).cells, name) }
                }
                let data: JSONValue = [
                  "rows": .array(rows), "count": JSONValue(rows.count),
                  "text": .string(count(rows.count, query)),
                ]
                continuation.yield("data: \(data.text)\n\n")
                try await Task.sleep(for: .milliseconds(200))
              }
            } catch is CancellationError {
              // Nobody looks any more.
            } catch {
              let known = ConsoleError(error)
              let data: JSONValue = [
                "message": .string(known.message), "help": JSONValue(known.help),
              ]
              continuation.yield("event: fault\ndata: \(data.text)\n\n")
            }
            continuation.finish()
          }
          let watch = Task {
            while file == nil || FileStatus(path)?.identity == file {
              try await Task.sleep(for: .seconds(1))
            }
            continuation.finish()
          }
          continuation.onTermination = { _ in
            watch.cancel()
            task.cancel()
            stop.cancel()
          }
        }
      }
    )
  }

  private static func request(
    _ name: String,
    _ request: ConsoleRequest,
    _ store: SQLiteStore
  ) throws -> (EntityQuery, EntityTable, FetchRequest) {
    let shape = try EntityShape(name, in: store.model)
    let query = try EntityQuery(request)
    let table = try EntityTable(shape, query.columns, in: store.model, isWhole: request.wantsJSON)
    var fetch = try query.request(of: name, columns: table.fetched, in: store)
    fetch.limit = query.limit
    return (query, table, fetch)
  }

  /// How many objects are shown: of a whole page nobody has counted how many follow.
  private static func count(_ number: Int, _ query: EntityQuery) -> String {
    let text = Figures.count(number, "object")
    return number < query.limit ? text : "the first \(text)"
  }

  private static func row(_ id: ObjectID, _ cells: [CellView], _ name: String) -> JSONValue {
    [
      "id": .string(id.uri), "address": .string(ObjectLabel.address(of: id, in: name)),
      "label": .string(EntityPage.rowLabel(name, cells)),
      "cells": .array(
        cells.map { cell in
          [
            "text": .string(cell.text), "style": .string(cell.style),
            "address": JSONValue(cell.cellAddress),
          ]
        }
      ),
    ]
  }
}

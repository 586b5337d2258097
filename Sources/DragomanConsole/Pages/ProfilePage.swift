import Dragoman
import DragomanGraph

/// What the values of each attribute of an entity are like; each is sent as soon as it is known.
enum ProfilePage {
  private struct Bar {
    let x: String
    let y: String
    let width: String
    let height: String
    let title: String
    let range: String
    let count: String
  }

  private struct Top {
    let text: String
    let count: String
    let share: String
    let width: String
    let style: String
  }

  private struct Card {
    let name: String
    let type: String
    let nulls: String
    let distinct: String
    let smallest: String
    let largest: String
    let hasBounds: Bool
    let bars: [Bar]
    let hasBars: Bool
    let top: [Top]
    let hasTop: Bool
    let isMasked: Bool
  }

  private struct View {
    let name: String
    let address: String
    let live: String
    let profile: String
    let predicate: String
    let hasPredicate: Bool
  }

  private static let mark = "<!--cards-->"

  /// - Throws: `ConsoleError` and `StoreError` before anything is sent.
  static func answer(
    _ name: String,
    _ request: ConsoleRequest,
    _ sources: PageSources,
    frame: (PageAnswer) -> PageFrame
  ) throws -> ConsoleResponse {
    let store = try sources.database.open(for: nil)
    let shape = try EntityShape(name, in: store.model)
    let query = try EntityQuery(request)
    let filter = try query.request(of: name, in: store).filter
    if request.wantsJSON {
      return ConsoleResponse(
        type: "application/json",
        .written { output in
          try output.write(
            Array("{\"v\":1,\"entity\":\(JSONValue.string(name).text),\"attributes\":[".utf8)
          )
          var (separator, error) = ("", JSONValue.null)
          do {
            for attribute in shape.attributes {
              let profile = try store.profile(of: attribute.name, in: name, filter: filter) {
                output.isAbandoned
              }
              try output.write(Array((separator + json(profile).text).utf8))
              separator = ","
            }
          } catch let fault as StoreError {
            // The head is sent: what follows is told in its place.
            error = ConsoleError(fault).json
          }
          try output.write(Array("],\"error\":\(error.text)}\n".utf8))
        }
      )
    }
    let view = View(
      name: name,
      address: query.address(of: name),
      live: query.address(of: name, "live"),
      profile: query.address(of: name, "profile"),
      predicate: query.predicate,
      hasPredicate: !query.predicate.isEmpty
    )
    let page = PageTemplates.page(
      "profile",
      view,
      in: frame(PageAnswer(title: "\(name), profile", template: "profile", view: view, json: .null))
    )
    let sides = page.split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false)
    let (head, tail) = (String(sides[0]), sides.count > 1 ? String(sides[1]) : "")
    return ConsoleResponse(
      type: "text/html; charset=utf-8",
      .written { output in
        try output.write(Array(head.utf8))
        do {
          for attribute in shape.attributes {
            let profile = try store.profile(of: attribute.name, in: name, filter: filter) {
              output.isAbandoned
            }
            try output.write(Array(PageTemplates.fragment("profilecard", card(profile)).utf8))
          }
        } catch let error as StoreError {
          // What one attribute's values cannot be asked for no other's can.
          let fault = PageTemplates.fragment("fault", FaultView(ConsoleError(error)))
          try output.write(Array(fault.utf8))
        }
        try output.write(Array(tail.utf8))
      }
    )
  }

  private static func card(_ profile: AttributeProfile) -> Card {
    let attribute = profile.attribute
    let isMasked = attribute.isSensitive
    let most = max(1, profile.histogram.map(\.count).max() ?? 1)
    let step = 300.0 / Double(max(1, profile.histogram.count))
    func text(_ value: StoredValue?) -> String {
      value.flatMap { ShownValue.text($0, attribute) }.map { PageText.short($0, 60) } ?? ""
    }
    let ranges = isMasked ? [] : profile.histogram
    let bars = ranges.enumerated().map { place, bar in
      let height = bar.count == 0 ? 0 : max(1.5, Double(bar.count) / Double(most) * 70)
      let range = "\(text(bar.lower)) to \(text(bar.upper))"
      return Bar(
        x: ImportChart.text(Double(place) * step + 0.5),
        y: ImportChart.text(72 - height),
        width: ImportChart.text(step - 1),
        height: ImportChart.text(height),
        title: "\(range): \(Figures.grouped(bar.count))",
        range: range,
        count: Figures.grouped(bar.count)
      )
    }
    let first = max(1, profile.frequentValues.first?.count ?? 1)
    let values = isMasked ? [] : profile.frequentValues
    let top = values.map { frequency in
      Top(
        text: CellView(frequency.value, attribute).text,
        count: Figures.grouped(frequency.count),
        share: Figures.share(frequency.count, of: profile.objectCount),
        width: ImportChart.text(Double(frequency.count) / Double(first) * 100),
        style: CellView(frequency.value, attribute).style
      )
    }
    return Card(
      name: attribute.name,
      type: attribute.type.rawValue,
      nulls: profile.nullCount == 0
        ? "never null"
        : "\(Figures.share(profile.nullCount, of: profile.objectCount)) null (\(Figures.grouped(profile.nullCount)))",
      distinct: profile.distinctCount > 0
        && profile.distinctCount == profile.objectCount - profile.nullCount
        ? "all different" : "\(Figures.grouped(profile.distinctCount)) different",
      smallest: text(profile.smallest),
      largest: text(profile.largest),
      hasBounds: profile.smallest != nil && !isMasked && attribute.type != .data,
      bars: bars,
      hasBars: !bars.isEmpty,
      top: top,
      hasTop: !top.isEmpty,
      isMasked: isMasked
    )
  }

  private static func json(_ profile: AttributeProfile) -> JSONValue {
    let attribute = profile.attribute
    func value(_ value: StoredValue?) -> JSONValue {
      value.map { JSONValue($0, attribute) } ?? .null
    }
    return [
      "name": .string(attribute.name), "type": .string(attribute.type.rawValue),
      "objects": JSONValue(profile.objectCount), "nulls": JSONValue(profile.nullCount),
      "distinct": JSONValue(profile.distinctCount), "smallest": value(profile.smallest),
      "largest": value(profile.largest),
      "frequent": attribute.isSensitive
        ? .array([])
        : .array(
          profile.frequentValues.map { ["value": value($0.value), "count": JSONValue($0.count)] }
        ),
      "histogram": attribute.isSensitive
        ? .array([])
        : .array(
          profile.histogram.map {
            ["from": value($0.lower), "to": value($0.upper), "count": JSONValue($0.count)]
          }
        ),
    ]
  }
}

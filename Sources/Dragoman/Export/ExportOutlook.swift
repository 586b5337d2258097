import DragomanGraph

/// What can be told of the exports of a map before there is an object.
public struct ExportOutlook: Sendable, Hashable {
  /// What an export leaves out, or why there can be none, each a sentence; empty where everything has
  /// a place.
  public var losses: [String] = []
  /// What stands inside of another value, which is written: an export says where the two differ.
  public var overlaps: [String] = []
}

extension ImportMap {
  /// What exports of the records of each source, in the format of the source, cannot say.
  ///
  ///     map.exportOutlook().losses  // ["Person.phones is left out: …"]
  public func exportOutlook() -> ExportOutlook {
    var outlook = ExportOutlook()
    let layout = ModelLayout(model())
    let alone = entities.count == 1 ? entities.map { ($0.name, ForeignFormat.json) } : []
    for (entity, format) in sources.isEmpty ? alone : sources.map({ ($0.entity, $0.format) }) {
      do throws(ExportError) {
        let plan = try ExportPlan(
          ExportRequest(entity: entity),
          self,
          format: format,
          layout: layout
        )
        let found = plan.losses + (plan.unread.map { [$0] } ?? [])
        outlook.losses += found.filter { !outlook.losses.contains($0) }
        outlook.overlaps += plan.overlaps.filter { !outlook.overlaps.contains($0) }
      } catch {
        let name = format.rawValue
        outlook.losses.append("\(entity) cannot be exported as \(name): \(error.message)")
      }
    }
    return outlook
  }
}

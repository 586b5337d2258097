import DragomanGraph

/// What feeds by a map had so far: what the next one is compared with.
///
/// It stands in the file as JSON, and is bounded by `UnreadKeys.maximumCount` and by the map.
struct SeenKeys: Codable, Equatable {
  /// What the map reads of an entity: an attribute, or a relationship.
  struct Property: Codable, Equatable {
    let name: String
    /// The kinds of its values in the last feed that had some.
    var values: [FeedDrift.ValueKind]
    /// Whether the last feed had it.
    var isPresent: Bool
  }

  /// An entity in feeds of one format.
  struct Entity: Codable, Equatable {
    let format: ForeignFormat
    let name: String
    var properties: [Property] = []
    /// The keys that nothing reads, of all feeds so far.
    var unread: [String] = []

    /// What is known of a property.
    func property(named name: String) -> Property? {
      properties.first { hasSameBytes($0.name, name) }
    }
  }

  private(set) var entities: [Entity] = []

  /// What is known of an entity.
  func entity(named name: String, in format: ForeignFormat) -> Entity? {
    entities.first { $0.format == format && hasSameBytes($0.name, name) }
  }

  /// Takes what the feed at hand has of an entity in place of what was known.
  mutating func replace(_ entity: Entity) {
    entities.removeAll { $0.format == entity.format && hasSameBytes($0.name, entity.name) }
    entities.append(entity)
  }
}

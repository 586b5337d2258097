import DragomanGraph

/// What the default mapper does with each type; `Mapper.default(for:in:)` tells it in words.
enum DefaultMaps {
  /// Keys that are no attributes are refused, and strings of digits are no dates.
  static var code: EntityCode {
    var code = EntityCode()
    code.rejectsUnknownKeys = true
    code.isBestEffort = true
    return code
  }

  /// The map of an entity, its ancestors' attributes first; not `isWhole`: without them, for a map
  /// that has the ancestors, too.
  static func map(of entity: Entity, in model: Model, isWhole: Bool = true) -> EntityMap {
    let declared = isWhole ? model.allAttributes(of: entity) : entity.attributes
    let attributes = declared.map { attribute in
      var map = AttributeMap(attribute)
      map.from = ForeignPaths(own: attribute.name)
      switch attribute.type {
      case .int16, .int32, .int64, .double, .float, .decimal: map.format.takesNumberText = true
      case .timestamp: map.format.dates = ["iso8601", "iso8601-date", "rfc2822", "unix"]
      case .date: map.format.dates = ["iso8601-date", "iso8601"]
      case .time: map.format.dates = ["HH:mm", "HH:mm:ss", "HH:mm:ss.SSSSSS", "iso8601"]
      default: break
      }
      return map
    }
    return EntityMap(
      name: entity.name,
      table: entity.parent == nil ? entity.table : nil,
      parent: entity.parent,
      uniqueKeys: isWhole ? model.allUniqueKeys(of: entity) : entity.uniqueKeys,
      attributes: attributes,
      policies: ValuePolicies(onMissing: .keep, onNull: .clear, onInvalid: .clear)
    )
  }
}

extension ForeignPaths {
  /// The member of that name, whatever signs are in it.
  fileprivate init(own name: String) {
    let path = ForeignPath(own: name)
    self.init(json: [path], xml: [path], csv: [path])
  }
}

import DragomanGraph

extension ImportMap {
  /// Why an export may spell a value otherwise than the feed did, an attribute a line; empty for a
  /// canonical map.
  ///
  /// By every map what is exported is imported again without a change. By a canonical one an import
  /// can be exported without a change, too, but for members that the map does not read and for the
  /// order of members: every value has one spelling.
  ///
  ///     map.spellingsThatDiffer()  // ["Person.bornOn has several date formats", …]
  public func spellingsThatDiffer() -> [String] {
    let reach = SourceReach(self)
    return entities.flatMap { entity in
      let tombstones = entity.deleteWhen == nil ? [] : ["\(entity.name) drops deleted records"]
      let formats = reach.formats(of: entity.name)
      return entity.attributes.filter(\.isExported).compactMap { attribute in
        let reasons = differences(of: attribute, in: formats) + losses(of: attribute, in: entity)
        return reasons.first.map { "\(entity.name).\(attribute.name) \($0)" }
      } + tombstones
    }
  }

  private func differences(
    of attribute: AttributeMap,
    in formats: Set<ForeignFormat>
  ) -> [String] {
    var reasons: [String] = []
    func note(_ isSo: Bool, _ reason: String) { if isSo { reasons.append(reason) } }
    note(attribute.compute != nil, "is computed")
    if let from = attribute.from {
      let paths = formats.map { from.paths(in: $0) }
      note(paths.contains { $0.count > 1 }, "has several paths")
      note(paths.joined().contains { $0.root != .record }, "stands outside of the record")
      note(paths.joined().contains(where: \.hasWildcard), "gathers several values")
    }
    if [.timestamp, .date, .time].contains(attribute.type) {
      note((attribute.format.dates ?? defaults.dates ?? []).count > 1, "has several date formats")
    }
    if attribute.type.isNumeric, let numbers = attribute.format.numbers ?? defaults.numbers {
      note(numbers.style == .currency || numbers.style == .accounting, "loses its currency sign")
      note(numbers.group != nil || numbers.locale != nil, "may be grouped or not")
    }
    note(attribute.format.strings.trim ?? defaults.strings.trim ?? false, "is trimmed")
    note(
      attribute.format.strings.emptyAsNull ?? defaults.strings.emptyAsNull ?? false,
      "may be empty for null"
    )
    note(
      !(attribute.format.strings.nulls ?? defaults.strings.nulls ?? []).isEmpty,
      "has words for null"
    )
    let locals = Set(attribute.format.values.map { Array($0.local.utf8) })
    note(
      attribute.format.unknown != nil || locals.count < attribute.format.values.count,
      "has several words for one value"
    )
    note(
      max(attribute.format.trueValues.count, attribute.format.falseValues.count) > 1,
      "has several words for true or false"
    )
    note(attribute.format.coerce, "may be a number or a string")
    return reasons
  }

  /// What policies make of an attribute's values, in records of the entity and in those of its sub-entities.
  private func losses(of attribute: AttributeMap, in entity: EntityMap) -> [String] {
    let isDefault = { (policy: ValuePolicy) in
      policy == .default && attribute.defaultValue != nil
    }
    // An invalid key rejects its record, and so does what would clear a required value.
    let isSafe = attribute.isRequired == true || isKey(attribute, of: entity)
    let policies = familyPolicies(attribute.policies, of: entity)
    var reasons: [String] = []
    if policies.contains(where: { isDefault($0.onMissing) || isDefault($0.onNull) })
      || policies.contains(where: { isDefault($0.onInvalid) && !isKey(attribute, of: entity) })
    {
      reasons.append("may have its default for another value")
    }
    if !isSafe,
      policies.contains(where: { policy in
        policy.onInvalid == .clear || (policy.onInvalid == .default && !isDefault(policy.onInvalid))
      })
    {
      reasons.append("loses what is invalid")
    }
    return reasons
  }

  private func isKey(_ attribute: AttributeMap, of entity: EntityMap) -> Bool {
    let identity = lineage(of: entity).lazy.compactMap(\.uniqueKeys.first).first ?? []
    return identity.contains { hasSameBytes($0, attribute.name) }
  }

  /// The policies of something that an entity declares, for its own records and for those of each entity below it.
  private func familyPolicies(_ own: ValuePolicies, of entity: EntityMap) -> [ResolvedPolicies] {
    entities.compactMap { member in
      let lineage = lineage(of: member)
      let place = lineage.firstIndex { hasSameBytes($0.name, entity.name) }
      return place.map { policies(own, of: lineage[...$0]) }
    }
  }
}

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
    entities.flatMap { entity in
      let tombstones = entity.deleteWhen == nil ? [] : ["\(entity.name) drops deleted records"]
      return entity.attributes.filter(\.isExported).compactMap { attribute in
        differences(of: attribute).first.map { "\(entity.name).\(attribute.name) \($0)" }
      } + tombstones
    }
  }

  private func differences(of attribute: AttributeMap) -> [String] {
    var reasons: [String] = []
    func note(_ isSo: Bool, _ reason: String) { if isSo { reasons.append(reason) } }
    note(attribute.compute != nil, "is computed")
    if let from = attribute.from {
      note(max(from.json.count, from.xml.count, from.csv.count) > 1, "has several paths")
      note((from.json + from.xml).contains { $0.root != .record }, "stands outside of the record")
      note((from.json + from.xml).contains(where: \.hasWildcard), "gathers several values")
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
    let policies = [
      attribute.policies.onMissing, attribute.policies.onNull, attribute.policies.onInvalid,
      defaults.policies.onInvalid,
    ]
    note(policies.contains(.default), "may have its default for another value")
    note(
      (attribute.policies.onInvalid ?? defaults.policies.onInvalid) == .clear,
      "loses what is invalid"
    )
    return reasons
  }
}

/// Which keys the held records make that are not settled.
///
/// Of which entity their objects come to be is not looked at: several records may have a say in that.
struct HeldMakers {
  private typealias Key = HeldRecords.Key

  /// By key, how many objects of records have it.
  private var counts: [Key: Int] = [:]
  /// By key without values, which places of it records leave open.
  private var openPlaces: [Key: Set<[Int]>] = [:]

  init(_ records: [HeldRecords.Record]) {
    for made in records.lazy.flatMap(\.keys.made) {
      counts[made.key, default: 0] += 1
      if !made.unknown.isEmpty { openPlaces[made.key.blank, default: []].insert(made.unknown) }
    }
  }

  /// The keys of records that make a target: its own, and those of records that leave parts of it open.
  func keys(of need: HeldRecords.Need) -> [HeldRecords.Key] {
    if openPlaces.isEmpty { return [need.key] }
    return [need.key] + (openPlaces[need.key.blank] ?? []).map { need.key.masking($0) }
  }

  /// Whether one of them makes a target.
  func make(_ need: HeldRecords.Need) -> Bool {
    keys(of: need).contains { counts[$0, default: 0] > 0 }
  }

  /// Notes that a record makes nothing, or nothing more.
  ///
  /// - Returns: The keys of which it was the last maker.
  mutating func withdraw(_ record: HeldRecords.Record) -> [HeldRecords.Key] {
    record.keys.made.compactMap { made in
      counts[made.key]? -= 1
      return counts[made.key] == 0 ? made.key : nil
    }
  }
}

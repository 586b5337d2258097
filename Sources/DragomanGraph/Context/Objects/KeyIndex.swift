/// Finds objects with unsaved changes by their unique keys.
///
/// A context keeps one while records are imported into it: a record whose object was made a moment
/// ago, by an earlier record or by the program, finds it here, and what is stored is found by SQL.
final class KeyIndex {
  /// The values of a key.
  struct Values: Hashable {
    let first: StoredValue
    let rest: [StoredValue]

    init(_ values: [StoredValue]) {
      first = values.first ?? .null
      rest = values.count > 1 ? Array(values.dropFirst()) : []
    }

    /// A key with a null part never matches.
    var isComplete: Bool { first != .null && !rest.contains(.null) }
  }

  /// The columns of each key, by table.
  private let columns: [[[Int]]]
  /// Which columns of a table are part of a key.
  private let keyColumns: [Set<Int>]
  private var places: [[[Values: RowKey]]]
  /// Further objects with the same values: a record that clashes has them until it is undone.
  private var others: [Clash: [RowKey]] = [:]

  private struct Clash: Hashable {
    let table: Int
    let key: Int
    let values: Values
  }

  init(_ layout: ModelLayout) {
    let columns = layout.tables.indices.map { table -> [[Int]] in
      var keys: [[Int]] = []
      for entity in layout.entities where entity.tableIndex == table {
        for key in entity.uniqueKeys.map(entity.columns) where !keys.contains(key) {
          keys.append(key)
        }
      }
      return keys
    }
    self.columns = columns
    keyColumns = columns.map { Set($0.joined()) }
    places = columns.map { $0.map { _ in [:] } }
  }

  /// Whether a column is part of a key.
  func covers(_ column: Int, of table: Int) -> Bool { keyColumns[table].contains(column) }

  /// The object that has the values of a key, besides one that is not asked for.
  func place(
    of values: Values,
    _ key: [Int],
    in table: Int,
    besides other: RowKey? = nil
  ) -> RowKey? {
    guard let number = columns[table].firstIndex(of: key),
      let first = places[table][number][values]
    else { return nil }
    if first != other { return first }
    return others[Clash(table: table, key: number, values: values)]?.first { $0 != other }
  }

  /// All objects that have the values of a key.
  func places(of values: Values, _ key: [Int], in table: Int) -> [RowKey] {
    guard let number = columns[table].firstIndex(of: key),
      let first = places[table][number][values]
    else { return [] }
    return [first] + (others[Clash(table: table, key: number, values: values)] ?? [])
  }

  /// Remembers an object by its keys.
  func insert(_ place: RowKey, in context: ManagedObjectContext) {
    each(place, context) { table, number, values in
      guard let first = places[table][number][values] else {
        places[table][number][values] = place
        return
      }
      guard first != place else { return }
      let clash = Clash(table: table, key: number, values: values)
      if others[clash]?.contains(place) != true {
        others[clash, default: []].append(place)
      }
    }
  }

  /// Forgets an object, before its keys change or it goes.
  func remove(_ place: RowKey, in context: ManagedObjectContext) {
    each(place, context) { table, number, values in
      let isFirst = places[table][number][values] == place
      if isFirst { places[table][number][values] = nil }
      guard !others.isEmpty else { return }
      let clash = Clash(table: table, key: number, values: values)
      guard var rest = others[clash] else { return }
      rest.removeAll { $0 == place }
      if isFirst, !rest.isEmpty { places[table][number][values] = rest.removeFirst() }
      others[clash] = rest.isEmpty ? nil : rest
    }
  }

  /// Forgets everything: what was unsaved is stored.
  func removeAll() {
    for table in places.indices {
      for key in places[table].indices { places[table][key].removeAll(keepingCapacity: true) }
    }
    others = [:]
  }

  private func each(
    _ place: RowKey,
    _ context: ManagedObjectContext,
    _ body: (Int, Int, Values) -> Void
  ) {
    let table = place.table
    for (number, key) in columns[table].enumerated() {
      let values = Values(key.map { context.knownValue($0, at: place) })
      if values.isComplete { body(table, number, values) }
    }
  }
}

extension EntityLayout {
  /// The columns of a unique key.
  package func columns(_ key: [KeyPart]) -> [Int] {
    key.map { part in
      switch part.property {
      case .attribute(let slot): attributeColumns[slot]
      case .relationship(let slot): linkColumns[slot] ?? 0
      }
    }
  }
}

extension ManagedObject {
  /// The value of a column without reading a fault.
  func knownValue(_ column: Int) -> StoredValue {
    if status == .clean, !context.hasChangesAbove { return rowValue(column) }
    return context.knownValue(column, at: place)
  }
}

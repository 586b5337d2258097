/// A sort key held against a model.
package struct ResolvedSortKey {
  /// By what.
  package let expression: ResolvedExpression
  /// Whether small values come first.
  package let isAscending: Bool
  /// What is folded away of text, one after the other.
  package let folds: [Filter.Comparison.Options]
}

/// Orders objects in memory as the SQL of the same sort keys does.
package struct SortComparator {
  private let keys: [ResolvedSortKey]

  /// A comparator; ties are broken by the primary keys.
  package init(_ keys: [ResolvedSortKey]) { self.keys = keys }

  /// Less than 0 if `left` comes first; 0 only for one and the same object.
  ///
  /// To sort many objects use `sorted(_:)`, which reads the values of each only once.
  /// - Throws: `StoreError.Code.badRequest` for a sum of integers beyond 64 bits.
  package func order<Subject: FilterSubject>(
    _ left: Subject,
    _ right: Subject
  ) throws(StoreError) -> Int {
    let order = order(try values(of: left), try values(of: right))
    return order == 0 ? tie(left.objectID, right.objectID) : order
  }

  /// The objects in order.
  package func sorted<Subject: FilterSubject>(
    _ subjects: [Subject]
  ) throws(StoreError) -> [Subject] {
    var rows: [(subject: Subject, id: ObjectID, values: [StoredValue])] = []
    rows.reserveCapacity(subjects.count)
    for subject in subjects {
      rows.append((subject, subject.objectID, try values(of: subject)))
    }
    rows.sort { left, right in
      let order = order(left.values, right.values)
      return (order == 0 ? tie(left.id, right.id) : order) < 0
    }
    return rows.map(\.subject)
  }

  private func tie(_ left: ObjectID, _ right: ObjectID) -> Int {
    left.primaryKey < right.primaryKey ? -1 : left.primaryKey == right.primaryKey ? 0 : 1
  }

  /// What the keys compare of an object: a value a key and fold.
  private func values(of subject: some FilterSubject) throws(StoreError) -> [StoredValue] {
    var values: [StoredValue] = []
    for key in keys {
      let value = try key.expression.value(of: subject)
      for fold in key.folds {
        if !fold.isEmpty, case .text(let text) = value {
          values.append(.text(TextFold.fold(text, fold)))
        } else {
          values.append(value)
        }
      }
    }
    return values
  }

  private func order(_ left: [StoredValue], _ right: [StoredValue]) -> Int {
    var place = 0
    for key in keys {
      for _ in key.folds {
        let order = ValueOrder.order(
          left[place],
          right[place],
          asDecimals: key.expression.attribute.type == .decimal
        )
        if order != 0 { return key.isAscending ? order : -order }
        place += 1
      }
    }
    return 0
  }
}

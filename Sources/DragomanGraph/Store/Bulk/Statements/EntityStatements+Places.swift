/// The places that rows have in the ordered inverses of their to-ones.
///
/// A row that says whose it is comes behind the others of that list: its place is the next primary key, which no other
/// row gets then, so that it is larger than those that others were given so. Where a list itself names the object, it
/// moves it to its own place when the links are stored (`LinkStage`).
extension EntityStatements {
  /// The to-ones of a shape that have a place in their inverse, and the columns of these places.
  private func ordered(_ present: [Int]) -> [(column: String, order: String)] {
    present.map { slots[$0] }.reduce(into: []) { found, slot in
      guard let order = slot.order, !found.contains(where: { hasSameBytes($0.order, order) })
      else { return }
      found.append((slot.column, order))
    }
  }

  /// Whether rows of a shape may take places of which no list tells.
  func takesPlaces(_ present: [Int]) -> Bool { present.contains { slots[$0].order != nil } }

  private func value(_ column: String, of present: [Int], from parameter: Int) -> String {
    let values = merged(values(of: present, from: parameter, isNoted: false))
    return values.first { hasSameBytes($0.column, column) }?.value ?? "NULL"
  }

  /// The places of a new row, which parameter 1 is the key of: those that are given, or else behind all others.
  func places(ofNew present: [Int]) -> [(column: String, value: String)] {
    ordered(present).map { column, order in
      let given = present.firstIndex {
        slots[$0].kind == .place && hasSameBytes(slots[$0].column, order)
      }
      let place = given.map { "ifnull(?\($0 + 2), ?1)" } ?? "?1"
      return (order, "iif(\(value(column, of: present, from: 2)) IS NULL, NULL, \(place))")
    }
  }

  /// What moves a row that is there to the end of another list, or takes its place away: the row that could not be
  /// inserted has the place.
  func places(_ present: [Int]) -> [String] {
    ordered(present).map { column, order in
      let (link, place) = (Schema.quoted(column), Schema.quoted(order))
      return
        "\(place) = CASE WHEN \(link) IS excluded.\(link) THEN \(place) ELSE excluded.\(place) END"
    }
  }

  /// The same of a row that can make no object, given the first parameter of its slots.
  func places(_ present: [Int], from parameter: Int) -> [String] {
    ordered(present).map { column, order in
      let (link, place) = (Schema.quoted(column), Schema.quoted(order))
      let value = value(column, of: present, from: parameter)
      return "\(place) = CASE WHEN \(link) IS \(value) THEN \(place) WHEN \(value) NOT NULL"
        + " THEN ?1 END"
    }
  }
}

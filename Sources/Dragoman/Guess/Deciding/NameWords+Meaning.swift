/// What names say of their values: only hints, held against the values.
extension NameWords {
  /// Whether amounts of money have such a name.
  var isMoney: Bool {
    let money: Set = [
      "price", "amount", "total", "subtotal", "cost", "salary", "fee", "balance", "tax", "vat",
      "revenue", "budget", "net", "gross", "payment", "discount", "wage", "paid", "usd", "eur",
    ]
    return words.contains { money.contains($0) }
  }

  /// Whether digits of such a name are a code and no number.
  var isCode: Bool {
    let codes: Set = [
      "zip", "postal", "postcode", "plz", "phone", "telephone", "fax", "mobile", "isbn", "ean",
      "gtin",
    ]
    return words.contains { codes.contains($0) }
  }

  /// Whether degrees of latitude or longitude have such a name.
  var isCoordinate: Bool {
    let names: Set = ["lat", "latitude", "lon", "lng", "long", "longitude"]
    return words.contains { names.contains($0) }
  }

  /// Whether times have such a name.
  var isTime: Bool {
    let times: Set = [
      "time", "timestamp", "date", "updated", "created", "modified", "generated", "expires",
      "since",
      "until", "ts", "when", "published", "measured", "started", "ended", "deleted",
    ]
    return words.contains { times.contains($0) } || (words.count > 1 && words.last == "at")
      || (words.count > 1 && words.last == "on")
  }

  /// Whether the times of such a name change with a record, or are those of its begin or end: they tell no records of
  /// a series apart.
  var isChangeOrSpan: Bool {
    let names: Set = [
      "updated", "modified", "lastmod", "changed", "deleted", "expires", "born", "birth",
      "birthday",
      "birthdate", "dob", "opened", "founded", "closed", "withdrawal", "withdrawn", "died", "death",
    ]
    return words.contains { names.contains($0) }
  }

  /// Whether numbers and texts of such a name tell of which time a record is, as dates and times do.
  var isPeriod: Bool {
    let names: Set = [
      "time", "date", "datetime", "year", "quarter", "month", "week", "day", "hour",
    ]
    return words.last.map(names.contains) == true
  }

  /// What `keyRank(of:)` is of an UUID, a number, a code, one of a standard, the address of a page, the id of something
  /// else, its code, a name, what is named as its records are, and a place in a list.
  static let uuidRank = 90
  static let numberRank = 80
  static let ownCodeRank = 75
  static let codeRank = 70
  static let pageRank = 65
  static let otherIDRank = 60
  static let otherCodeRank = 50
  static let nameRank = 30
  static let entityRank = 25
  static let positionRank = 20

  /// How much a name says that its value is a key, 0: nothing.
  ///
  /// - Parameter entity: The words of the entity's name.
  /// - Returns: 100 for an id, less for what is less likely a key.
  func keyRank(of entity: [String]) -> Int {
    guard let last = words.last else { return 0 }
    let owner = words.dropLast()
    let isOwn = owner.isEmpty || entity.suffix(owner.count) == owner
    if last == "id" { return isOwn ? 100 : Self.otherIDRank }
    if ["uuid", "guid", "pk"].contains(last) { return isOwn ? Self.uuidRank : Self.otherIDRank }
    if last == "ids" { return 0 }
    if last == "key" { return isOwn ? Self.ownCodeRank : Self.otherIDRank }
    let isNumber = ["number", "no", "nr"].contains(last)
    if isNumber || last == "code" {
      if isOwn { return isNumber ? Self.numberRank : Self.ownCodeRank }
      if owner.count == 1, owner.allSatisfy(Self.codes.contains) { return Self.codeRank }
      return isOfSomethingElse(than: entity) ? 0 : Self.otherCodeRank
    }
    if Self.codes.contains(last) {
      return isOwn ? Self.codeRank : isOfSomethingElse(than: entity) ? 0 : Self.otherCodeRank
    }
    if ["url", "uri", "link", "href", "loc", "permalink", "self"].contains(last) {
      let isPage = isOwn || ["html", "page", "canonical"].contains(owner.last)
      return isPage ? Self.pageRank : 0
    }
    if last == "name" || last == "title" { return Self.nameRank }
    if words == entity.suffix(words.count) { return Self.entityRank }
    if ["position", "index", "sequence", "seq", "ordinal"].contains(last) {
      return Self.positionRank
    }
    return 0
  }

  /// Words for codes that name one thing wherever they stand, though of many records there may be several of one.
  private static let codes: Set = [
    "sku", "slug", "isbn", "issn", "ean", "gtin", "sha", "symbol", "iso", "iban", "ticket", "ref",
    "handle",
    "username", "email", "login", "abbreviation",
  ]

  /// Whether it is a number or code of what many records have: `phone_number`, `country_code`.
  private func isOfSomethingElse(than entity: [String]) -> Bool {
    guard words.count > 1, let owner = words.dropLast().last, owner != entity.last else {
      return false
    }
    let others: Set = [
      "zip", "postal", "post", "phone", "telephone", "mobile", "fax", "house", "country", "region",
      "state", "currency", "language", "status", "color", "colour", "error", "response",
    ]
    return others.contains(owner)
  }
}

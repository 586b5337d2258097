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

  /// How much a name says that its value is a key, 0: nothing.
  ///
  /// - Parameter entity: The words of the entity's name.
  /// - Returns: 100 for an id, less for what is less likely a key.
  func keyRank(of entity: [String]) -> Int {
    guard let last = words.last else { return 0 }
    if words == ["id"] || words == entity + ["id"] { return 100 }
    if ["uuid", "guid", "key", "pk"].contains(last) { return 90 }
    if last == "id" { return words.count == 1 ? 100 : 70 }
    if last == "ids" { return 0 }
    let codes: Set = [
      "code", "number", "no", "nr", "sku", "slug", "isbn", "issn", "ean", "symbol", "iso", "iban",
      "ticket", "ref", "handle", "username", "email", "login", "abbreviation",
    ]
    if codes.contains(last) { return 60 }
    if ["url", "uri", "link", "href"].contains(last) { return 35 }
    if last == "name" || last == "title" || words == entity { return 30 }
    if ["position", "index", "sequence", "seq", "ordinal"].contains(last) { return 20 }
    return 0
  }
}

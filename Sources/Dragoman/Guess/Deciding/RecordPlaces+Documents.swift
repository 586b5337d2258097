import DragomanGraph

/// Samples that are one record, as an invoice is.
extension RecordPlaces {
  /// Whether a sample is one record with an id or number of its own, as an invoice, and the lists in it are its parts.
  func isOneRecord(_ root: FeedShape, _ words: [String]) -> Bool {
    guard !lists.isEmpty else { return false }
    let names = root.members.filter { member in
      let own = NameWords(member.nameText)
      return member.kinds.scalars > 0 && member.kinds.objects == 0 && !member.isRepeated
        && (own.words.count == 1 || own.words.dropLast() == words[...])
        && own.keyRank(of: words) >= NameWords.codeRank && own.words.last != "code"
    }
    guard let own = names.first(where: { $0.values.areUnique(root.kinds.total, as: .spelled) })
    else {
      return false
    }
    let isDelivery =
      (sample.format == .xml && words.contains { Self.deliveries.contains($0) })
      || own.values.words.contains { NameWords.isDate($0.text) }
      || NameWords.isDate(String(own.values.numbers.greatest))
    let evidence = lists.map { part($0, of: root, isDelivery: isDelivery) }
    return evidence.contains(.proved) || (evidence.contains(.named) && !evidence.contains(.refuted))
  }

  /// What the records of a list show: whether they are told apart within the record around them only.
  private enum PartEvidence {
    case proved
    case named
    case neutral
    case refuted
  }

  /// Whether the records of a list are parts of the record around: their ids come again in other samples with something
  /// else, or they are lines that are counted or have none.
  private func part(_ list: List, of root: FeedShape, isDelivery: Bool) -> PartEvidence {
    let shape = list.shape
    let count = shape.kinds.total
    guard count <= 1000 * max(1, root.kinds.total) else { return .refuted }
    let words = NameWords(list.plural).singular.words
    let isLine = ["line", "position", "detail"].contains(words.last)
    let isNamed = isLine || (words.last == "item" && !isDelivery)
    let ids = shape.members.filter { member in
      let rank = NameWords(member.nameText).keyRank(of: words)
      return member.presence.owners == count && rank >= NameWords.numberRank
    }
    guard let id = ids.first else { return isNamed ? .named : .neutral }
    let isCounted = Self.isCounter(id, among: count)
    guard sample.inputCount > 1 else {
      if isLine, id.values.longestText <= 3 { return .proved }
      return isCounted && !isDelivery ? .proved : .refuted
    }
    let isAgain = ids.contains { id in
      !id.values.areUnique(count, as: .spelled)
        && id.values.areUnique(count, inEachSample: true, as: .spelled)
    }
    guard isAgain else { return .refuted }
    if isLine, isCounted { return .proved }
    let isOther = shape.rows?.column(of: id).flatMap { shape.rows?.differs(behind: $0) } ?? false
    return isOther ? .proved : .refuted
  }

  /// Whether ids are 1, 2, 3 and so on.
  private static func isCounter(_ id: FeedShape, among count: Int) -> Bool {
    if id.kinds.numbers > 0 {
      let numbers = id.values.numbers
      return numbers.isWhole && numbers.least == 1 && numbers.greatest <= count
    }
    return id.values.longestText <= 3 && id.values.words.contains { Int($0.text) == 1 }
  }

  /// Names of what records are sent in.
  private static let deliveries: Set = [
    "export", "feed", "catalog", "catalogue", "batch", "delivery", "dump", "backup", "snapshot",
    "page",
  ]
}

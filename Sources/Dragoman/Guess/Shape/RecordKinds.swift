import CSimdJSON

/// The records of a list, told apart by the word that says of which kind each is.
///
/// While a list is read, the records of the first word are in its own shape, those of each other word in a
/// shape beside it. Where the kinds turn out to differ in hardly more than the word, they are one again.
final class RecordKinds {
  /// The records of one word.
  struct Kind {
    let word: [UInt8]
    let shape: FeedShape
  }

  /// The name of the member that has the word.
  let name: [UInt8]
  private let isAttribute: Bool
  private let firstWord: [UInt8]
  private var others: [Kind] = []
  /// How many records are not of the first word.
  private(set) var otherCount = 0
  private var isOpen = true
  /// The kinds, once they are told apart for good; the list's own shape has all of them then.
  private(set) var kinds: [Kind] = []

  private static let maximumWordLength = 64
  private static let maximumKindCount = 24
  /// So many records tell whether kinds differ.
  private static let trialCount = 1000

  /// Begins with the first record of a list; nil where no member of it is named as such a word is.
  init?(first index: UInt32, _ batch: RecordBatch) {
    let record = batch.nodes[Int(index)]
    var child = index + 1
    while child < record.next {
      let node = batch.nodes[Int(child)]
      let name = batch.bytes(node.key, node.keyLength)
      if let word = Self.word(node, batch), Self.tellsKind(name) {
        self.name = Array(name)
        isAttribute = node.flags & UInt8(TAPE_ATTRIBUTE) != 0
        firstWord = Array(word)
        return
      }
      child = node.next
    }
    return nil
  }

  private static func tellsKind(_ name: UnsafeRawBufferPointer) -> Bool {
    guard (4...16).contains(name.count) else { return false }
    let words = NameWords(String(decoding: name, as: UTF8.self)).words
    if ["model", "event", "entity", "object"].contains(words.joined(separator: " ")) {
      return true
    }
    return words.last.map { ["type", "kind", "class"].contains($0) } ?? false
  }

  private static func word(_ node: TapeNode, _ batch: RecordBatch) -> UnsafeRawBufferPointer? {
    let isText =
      Int(node.kind) == TAPE_STRING || Int(node.kind) == TAPE_ELEMENT
    guard isText, node.length > 0, node.length <= maximumWordLength else { return nil }
    return batch.bytes(node.text, node.length)
  }

  /// The shape for a record: the list's own, or that of its kind.
  func shape(for index: UInt32, _ batch: RecordBatch, in list: FeedShape) -> FeedShape {
    guard isOpen else { return list }
    guard let word = word(of: index, batch) else {
      unite(list)
      return list
    }
    if word.elementsEqual(firstWord) { return list }
    otherCount += 1
    if otherCount == Self.trialCount, !areKinds(list) {
      unite(list)
      return list
    }
    if let known = others.first(where: { word.elementsEqual($0.word) }) { return known.shape }
    guard others.count + 1 < Self.maximumKindCount else {
      unite(list)
      return list
    }
    let shape = FeedShape(name: list.name, space: list.space, isAttribute: list.isAttribute)
    if list.rows != nil { shape.rows = RowTable() }
    others.append(Kind(word: Array(word), shape: shape))
    return shape
  }

  private func word(of index: UInt32, _ batch: RecordBatch) -> UnsafeRawBufferPointer? {
    let end = batch.nodes[Int(index)].next
    var child = index + 1
    while child < end {
      let node = batch.nodes[Int(child)]
      if node.keyLength == UInt32(name.count),
        (node.flags & UInt8(TAPE_ATTRIBUTE) != 0) == isAttribute,
        batch.bytes(node.key, node.keyLength).elementsEqual(name)
      {
        return Self.word(node, batch)
      }
      child = node.next
    }
    return nil
  }

  /// Makes one kind of all records.
  func unite(_ list: FeedShape) {
    guard isOpen || !kinds.isEmpty else { return }
    isOpen = false
    kinds = []
    let added = others
    others = []
    otherCount = 0
    for kind in added { list.merge(kind.shape) }
  }

  /// Ends the reading of a list: its shape has all records now, and the kinds theirs, where they differ.
  func settle(_ list: FeedShape) {
    guard isOpen else { return }
    guard !others.isEmpty, areWordsOfMaps, areKinds(list) else { return unite(list) }
    isOpen = false
    let first = Kind(word: firstWord, shape: list.split())
    let found = [first] + others
    others = []
    otherCount = 0
    for kind in found { list.merge(kind.shape) }
    kinds = found
  }

  /// Whether a map can tell the words apart: YAML takes Unicode's normal forms for one key, and loses a mark.
  private var areWordsOfMaps: Bool {
    let words = ([firstWord] + others.map(\.word)).map { String(decoding: $0, as: UTF8.self) }
    return Set(words).count == words.count
      && !words.contains { $0.unicodeScalars.contains("\u{FEFF}") }
  }

  // MARK: - Differences

  /// Whether two kinds have more members apart than in common.
  private func areKinds(_ list: FeedShape) -> Bool {
    let members = ([list] + others.map(\.shape)).map(Members.init)
    for (place, own) in members.enumerated() {
      for other in members[(place + 1)...] where own.differs(from: other) { return true }
    }
    return false
  }

  /// The names of a kind's values, with those of objects in it.
  private struct Members {
    private var counts: [[UInt8]: Int] = [:]
    private let recordCount: Int

    init(_ shape: FeedShape) {
      recordCount = shape.kinds.objects
      add(shape, [], depth: 0)
    }

    private mutating func add(_ shape: FeedShape, _ prefix: [UInt8], depth: Int) {
      for member in shape.members {
        let path = prefix + (member.isAttribute ? [UInt8(ascii: "@")] : []) + member.name
        if member.kinds.objects > 0, member.kinds.arrays == 0, depth < 2, !member.members.isEmpty {
          add(member, path + [UInt8(ascii: "/")], depth: depth + 1)
        } else {
          counts[path] = member.presence.owners
        }
      }
    }

    func differs(from other: Members) -> Bool {
      let apart = isOwn(beside: other) + other.isOwn(beside: self)
      // The word itself is in both.
      let common = counts.keys.count { other.counts[$0] != nil } - 1
      return apart >= 2 && apart >= common
    }

    /// How many values most records of the kind have, and none of the other kind.
    private func isOwn(beside other: Members) -> Int {
      counts.count { $0.value * 2 >= recordCount && other.counts[$0.key] == nil }
    }
  }
}

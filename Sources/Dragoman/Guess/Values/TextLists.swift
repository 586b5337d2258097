/// Whether the texts of a place are lists of keys in one text, and which keys they have.
struct TextLists {
  /// What stands between the keys, as a map says it: a sign, or `whitespace`; nil where no text has two.
  private(set) var split: String?
  /// The hashes of all keys; nil where the texts are no lists or there are too many.
  private(set) var keys: HashSet?
  private var division: LinkPlan.KeyPart.Split?
  private var isOpen = true

  private static let maximumLength = 256
  private static let maximumKeyLength = 64
  private static let maximumCount = 1 << 16

  /// Sees a text.
  ///
  /// - Parameters:
  ///   - text: A text that is not empty.
  ///   - earlier: Gives the hashes of all texts before it; nil where they are not known.
  ///   - budget: What all places together may keep.
  mutating func see(
    _ text: UnsafeRawBufferPointer,
    earlier: () -> HashSet?,
    _ budget: HashBudget
  ) {
    guard isOpen else { return }
    guard text.count <= Self.maximumLength else { return end(budget) }
    if division == nil {
      guard let found = Self.split(of: text) else { return }
      // Those before it were one key each.
      guard let earlier = earlier(), budget.grows(from: earlier.capacity) else {
        return end(budget)
      }
      split = found
      division = LinkPlan.KeyPart.Split(found)
      keys = earlier
    }
    guard let division else { return }
    for place in division.pieces(of: text) {
      guard insert(UnsafeRawBufferPointer(rebasing: text[place]), budget) else {
        return end(budget)
      }
    }
  }

  private mutating func insert(_ key: UnsafeRawBufferPointer, _ budget: HashBudget) -> Bool {
    // What has other signs between blanks is prose.
    guard key.count <= Self.maximumKeyLength, keys?.count ?? 0 < Self.maximumCount,
      split != "whitespace" || key.allSatisfy(Self.isCode)
    else { return false }
    guard keys?.isFull != true || budget.grows(from: keys?.capacity ?? 0) else { return false }
    keys?.insert(HashSet.hash(of: key))
    return true
  }

  private mutating func end(_ budget: HashBudget) {
    isOpen = false
    budget.release(keys?.capacity ?? 0)
    (keys, split, division) = (nil, nil, nil)
  }

  /// Adds the lists of another place, whose texts are lists with the same separator or single keys.
  mutating func merge(_ other: TextLists, _ own: HashSet?, _ theirs: HashSet?) {
    guard split != nil || other.split != nil || !isOpen || !other.isOpen else { return }
    let isSame = split == nil || other.split == nil || split == other.split
    guard isOpen, other.isOpen, isSame, var union = keys ?? own, let added = other.keys ?? theirs
    else {
      isOpen = false
      (keys, split, division) = (nil, nil, nil)
      return
    }
    union.formUnion(added)
    keys = union
    split = split ?? other.split
    division = division ?? other.division
  }

  private static func split(of text: UnsafeRawBufferPointer) -> String? {
    var hasSpace = false
    for byte in text {
      switch byte {
      case UInt8(ascii: ","): return ","
      case UInt8(ascii: ";"): return ";"
      case UInt8(ascii: "|"): return "|"
      case UInt8(ascii: " "): hasSpace = true
      default: break
      }
    }
    return hasSpace ? "whitespace" : nil
  }

  private static func isCode(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-_/:#".utf8.contains(byte)
  }
}

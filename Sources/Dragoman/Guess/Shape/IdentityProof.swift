import CSimdJSON

/// Whether nested objects of one id are the same wherever they stand, so that they are one object.
final class IdentityProof {
  /// The name of the member that names the object.
  let name: [UInt8]
  private let isAttribute: Bool
  /// What each member of each id was, by the hash of both.
  private var contents: [UInt64: UInt64] = [:]
  /// Whether one id had two contents.
  private(set) var isRefuted = false

  private static let maximumCount = 200_000

  /// The proof for an object of a place, by a member that is named as an id is; nil: it has none.
  init?(for shape: FeedShape) {
    func fits(_ member: FeedShape) -> Bool {
      let name = NameWords(member.nameText).words
      if ["id", "uuid", "guid"].contains(name.joined()) { return true }
      return name.count > 1 && name.last == "id"
        && name.dropLast() == NameWords(shape.nameText).words[...]
    }
    guard let member = shape.members.first(where: fits) else { return nil }
    name = member.name
    isAttribute = member.isAttribute
  }

  /// Whether it is this member that names the object, as far as is known.
  func isTold(by member: FeedShape) -> Bool {
    !isRefuted && member.isAttribute == isAttribute && member.name == name
  }

  /// Sees an object.
  func see(_ index: UInt32, _ batch: RecordBatch) {
    guard !isRefuted, contents.count < Self.maximumCount else { return }
    let end = batch.nodes[Int(index)].next
    guard let id = self.id(of: index, end, batch) else { return }
    var child = index + 1
    var last: UInt64 = 0
    var ordinal: UInt64 = 0
    while child < end {
      let node = batch.nodes[Int(child)]
      let name = HashSet.hash(of: batch.bytes(node.key, node.keyLength))
      // Elements of a list of XML have one name.
      ordinal = name == last ? ordinal + 1 : 0
      last = name
      let value = Self.hash(of: child, batch)
      if let earlier = contents.updateValue(value, forKey: (name &+ ordinal) ^ id),
        earlier != value
      {
        isRefuted = true
        return
      }
      child = node.next
    }
  }

  /// Adds what was seen at another place.
  func merge(_ other: IdentityProof) {
    guard !isRefuted else { return }
    let isSame = name == other.name && isAttribute == other.isAttribute
    isRefuted = !isSame || other.isRefuted
    guard !isRefuted, contents.count < Self.maximumCount else { return }
    contents.merge(other.contents) { own, theirs in
      if own != theirs { isRefuted = true }
      return own
    }
  }

  private func id(of index: UInt32, _ end: UInt32, _ batch: RecordBatch) -> UInt64? {
    var child = index + 1
    while child < end {
      let node = batch.nodes[Int(child)]
      if node.keyLength == UInt32(name.count),
        (node.flags & UInt8(TAPE_ATTRIBUTE) != 0) == isAttribute,
        batch.bytes(node.key, node.keyLength).elementsEqual(name)
      {
        return HashSet.mixed(HashSet.hash(of: batch.bytes(node.text, node.length)))
      }
      child = node.next
    }
    return nil
  }

  /// The hash of a value with all that is in it.
  private static func hash(of index: UInt32, _ batch: RecordBatch) -> UInt64 {
    var hash: UInt64 = 0
    for place in index..<batch.nodes[Int(index)].next {
      let node = batch.nodes[Int(place)]
      hash = HashSet.mixed(hash &+ UInt64(node.kind))
      hash ^= HashSet.hash(of: batch.bytes(node.text, node.length))
    }
    return hash
  }
}

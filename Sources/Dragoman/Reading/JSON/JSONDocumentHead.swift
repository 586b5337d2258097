/// The members of a JSON text's root object that stand before its records, for `$root` paths.
///
/// What is kept is small (`maximumByteCount`): it is parsed for every batch.
struct JSONDocumentHead {
  /// The most bytes that are kept.
  static let maximumByteCount = 1 << 20

  private let kept: DocumentMembers
  /// The members as JSON, commas between them.
  private var members: [UInt8] = []

  /// Makes an empty head for the paths' members.
  init(keeping kept: DocumentMembers) { self.kept = kept }

  /// Whether nothing is ever kept.
  var isUnused: Bool { kept == .none }

  /// Whether a member of that name is kept.
  func has(_ name: UnsafeRawBufferPointer) -> Bool { kept.has(name) }

  /// The object of the members.
  var text: [UInt8] { [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")] }

  /// Keeps a member, its name included; false: it is too much.
  mutating func keep(_ member: Slice<UnsafeMutableRawBufferPointer>) -> Bool {
    guard members.count + member.count < Self.maximumByteCount else { return false }
    members.append(contentsOf: members.isEmpty ? [] : [UInt8(ascii: ",")])
    members.append(contentsOf: member)
    return true
  }

  /// Says that the members are too large.
  static func limit(at origin: Origin) -> ReadError {
    ReadError(
      .limit,
      "The members before the records that `$root` paths name have more than"
        + " \(maximumByteCount >> 20) MB, with the one that begins here.",
      at: origin,
      help: "name a smaller member in the map's `$root` paths, or move it into the records"
    )
  }
}

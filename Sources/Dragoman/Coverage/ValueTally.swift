import DragomanGraph

/// What the values of one attribute are, in bounded memory.
struct ValueTally {
  private(set) var valueCount = 0
  private(set) var nullCount = 0
  private(set) var absentCount = 0
  private(set) var distinct = DistinctTally()
  private var smallest: Bound?
  private var largest: Bound?

  /// An end of the range of values.
  private enum Bound {
    case integer(Int64)
    case real(Double)
    case text([UInt8])
  }

  /// Texts are kept up to this many bytes: what is longer is told with an ellipsis.
  private static let maximumTextLength = 200

  /// Sees a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - arena: Where its text is.
  ///   - type: The attribute's type.
  ///   - budget: What all attributes together may keep.
  /// - Returns: The value's hash; 0 of none.
  @discardableResult
  mutating func see(
    _ value: RowValue,
    in arena: UnsafeRawBufferPointer,
    _ type: AttributeType,
    _ budget: HashBudget
  ) -> UInt64 {
    let hash: UInt64
    switch value.kind {
    case .absent:
      absentCount += 1
      return 0
    case .null:
      nullCount += 1
      return 0
    case .integer:
      hash = HashSet.mixed(UInt64(bitPattern: value.integer) &+ 1)
      if type.isOrdered { see(.integer(value.integer)) }
    case .real:
      hash = HashSet.mixed(value.real.bitPattern &+ 1)
      if type.isOrdered { see(.real(value.real)) }
    case .text, .blob:
      let bytes = UnsafeRawBufferPointer(
        rebasing: arena[value.offset..<value.offset + Int(value.length)]
      )
      hash = HashSet.hash(of: bytes)
      if value.kind == .text, type.isOrdered { see(bytes, isDecimal: type == .decimal) }
    }
    valueCount += 1
    distinct.insert(max(hash, 1), budget)
    return max(hash, 1)
  }

  private mutating func see(_ bound: Bound) {
    func precedes(_ left: Bound, _ right: Bound?) -> Bool {
      switch (left, right) {
      case (.integer(let a), .integer(let b)?): a < b
      case (.real(let a), .real(let b)?): a < b
      default: right == nil
      }
    }
    if smallest == nil || precedes(bound, smallest) { smallest = bound }
    guard let known = largest else {
      largest = bound
      return
    }
    if precedes(known, bound) { largest = bound }
  }

  private mutating func see(_ bytes: UnsafeRawBufferPointer, isDecimal: Bool) {
    func order(_ known: Bound?) -> Int? {
      guard case .text(let other)? = known else { return nil }
      return other.withUnsafeBytes { other in
        isDecimal
          ? DecimalText.order(bytes, other)
          : bytes.elementsEqual(other) ? 0 : bytes.lexicographicallyPrecedes(other) ? -1 : 1
      }
    }
    // A decimal is kept whole: a part of it is another number.
    let kept = isDecimal ? bytes.count : min(bytes.count, Self.maximumTextLength)
    if order(smallest).map({ $0 < 0 }) ?? true { smallest = .text(Array(bytes[..<kept])) }
    if order(largest).map({ $0 > 0 }) ?? true { largest = .text(Array(bytes[..<kept])) }
  }

  /// The ends of the range of values, from the smallest to the largest.
  var range: (smallest: StoredValue, largest: StoredValue)? {
    guard let smallest, let largest else { return nil }
    return (Self.value(smallest), Self.value(largest))
  }

  private static func value(_ bound: Bound) -> StoredValue {
    switch bound {
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    // A character may be cut at the end.
    case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    }
  }
}

/// How many different values there are.
struct DistinctTally {
  private var hashes = HashSet()
  /// Whether all of them were counted.
  private(set) var isExact = true

  /// One attribute does not take the room of all.
  private static let maximumCapacity = 4 << 20

  /// How many there are, at least.
  var count: Int { hashes.count }

  /// Counts a value.
  ///
  /// - Returns: Whether it is known to have been there before.
  @discardableResult
  mutating func insert(_ hash: UInt64, _ budget: HashBudget) -> Bool {
    if hashes.contains(hash) { return true }
    guard isExact else { return false }
    if hashes.isFull,
      hashes.capacity >= Self.maximumCapacity || !budget.grows(from: hashes.capacity)
    {
      isExact = false
      return false
    }
    hashes.insert(hash)
    return false
  }
}

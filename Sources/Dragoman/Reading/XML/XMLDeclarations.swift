/// Keeps the declarations of the open elements around records.
struct XMLDeclarations {
  private(set) var open: [XMLScope.Declaration] = []
  /// Whether they are not those that the batch was told last.
  private var isChanged = false

  /// An element is about to open that declares namespaces.
  mutating func add(
    _ namespaces: UnsafeMutablePointer<UnsafePointer<UInt8>?>,
    count: Int,
    depth: Int
  ) {
    isChanged = true
    for index in 0..<count {
      open.append(
        XMLScope.Declaration(
          prefix: namespaces[2 * index].map { String(cString: $0) } ?? "",
          uri: namespaces[2 * index + 1].map { String(cString: $0) } ?? "",
          depth: depth
        )
      )
    }
  }

  /// The element at a depth ends.
  @inline(__always)
  mutating func leave(depth: Int) {
    guard let last = open.last, last.depth >= depth else { return }
    isChanged = true
    open.removeAll { $0.depth >= depth }
  }

  /// Tells a batch what holds for a record that starts at a place of its source.
  mutating func tell(_ batch: RecordBatch, from start: Int) {
    guard isChanged || batch.scopes.isEmpty && !open.isEmpty else { return }
    isChanged = false
    batch.scopes.append(XMLScope(start: UInt32(truncatingIfNeeded: start), declarations: open))
  }
}

/// Writes records in one format: what `RecordWriter` calls while it walks the tree of an export.
///
/// A method that takes a value writes it as well as the format can, and says what is wrong with it
/// where it does not come back.
protocol RecordEncoder {
  /// How many objects, arrays and elements are open.
  var depth: Int { get }

  /// What stands before the first record.
  mutating func begin()
  /// What stands behind the last record.
  mutating func end()
  /// Starts a record.
  mutating func beginRecord()
  /// Ends a record.
  mutating func endRecord()

  /// The name of the record, member or element that comes next, where it is not always the same.
  mutating func name(_ node: Int, _ bytes: UnsafeRawBufferPointer) -> SpellingFault?

  /// Starts an object, an array or an element.
  ///
  /// - Returns: A mark for `takeBack`.
  mutating func open(_ node: Int, _ role: ExportTree.Role) -> Int
  /// Ends what `open` started.
  mutating func close(_ node: Int, _ role: ExportTree.Role)
  /// Forgets what `open` started, as nothing was written into it.
  mutating func takeBack(_ node: Int, to mark: Int)

  /// Writes a member, an element, an attribute or a cell without a value.
  mutating func null(_ node: Int, _ role: ExportTree.Role)
  /// Writes a member, an element, an attribute or a cell with a value.
  mutating func value(
    _ node: Int,
    _ role: ExportTree.Role,
    _ token: ValueSpeller.Token
  ) -> SpellingFault?
  /// Writes a value without a name: a record that is one, or the text of the open element.
  mutating func content(_ token: ValueSpeller.Token) -> SpellingFault?

  /// Writes a member with what a closure made of its value.
  mutating func value(_ node: Int, _ value: ForeignValue)
  /// Writes what a closure made of a value without a name.
  mutating func content(_ value: ForeignValue)
  /// Lets a hook change the open object.
  mutating func amend(_ change: (inout ForeignRecord) -> Void)
}

/// Closures and hooks are of mappers, which write values in memory.
extension RecordEncoder {
  mutating func value(_ node: Int, _ value: ForeignValue) {}
  mutating func content(_ value: ForeignValue) {}
  mutating func amend(_ change: (inout ForeignRecord) -> Void) {}
}

/// Texts of a format that every record has, one a node, in one piece of memory.
final class NodeTexts: Sendable {
  // Written once, in init, and only read from then on.
  nonisolated(unsafe) private let bytes: UnsafeMutableRawPointer
  nonisolated(unsafe) private let ends: UnsafeMutablePointer<Int>

  init(_ texts: [String]) {
    let all = texts.map { Array($0.utf8) }
    bytes = .allocate(byteCount: all.reduce(1) { $0 + $1.count }, alignment: 16)
    ends = .allocate(capacity: all.count + 1)
    ends[0] = 0
    for (index, text) in all.enumerated() {
      text.withUnsafeBytes { text in
        guard let source = text.baseAddress else { return }
        (bytes + ends[index]).copyMemory(from: source, byteCount: text.count)
      }
      ends[index + 1] = ends[index] + text.count
    }
  }

  deinit {
    bytes.deallocate()
    ends.deallocate()
  }

  /// The text of a node.
  @inline(__always)
  subscript(node: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + ends[node], count: ends[node + 1] - ends[node])
  }
}

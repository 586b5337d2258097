extension JSONReader {
  /// A container that the reader is inside of.
  struct Frame {
    let isObject: Bool
    /// The paths that may still lead to records below.
    let candidates: [JSONRecordPaths.Candidate]
    /// Whose records the elements are, if they are records.
    let records: Int?
    /// How many elements or members came before.
    var count = 0
    /// The name of the member that the container is, where its elements are records; it moves on
    /// from batch to batch.
    var name: [UInt8] = []
    var key: Range<UInt32> = 0..<0
  }

  enum State {
    /// A value is expected, reached by these paths, with this member name.
    case value([JSONRecordPaths.Candidate], key: Range<UInt32>)
    /// The next element, member or closing bracket of the innermost container is expected.
    case next
    /// The text's value is complete; only white space may follow.
    case complete
  }
}

/// Turns the bytes of one input into batches of records.
///
/// A reader pulls bytes from its `ByteSource`, cuts them into records at the record paths it was
/// made for, and fills batch after batch in constant memory. It validates the whole text: when
/// `read` has returned false without throwing, every byte of the input was well-formed.
protocol RecordReader: AnyObject {
  /// Empties the batch, then fills it with the next records.
  ///
  /// - Parameters:
  ///   - batch: The batch to fill; what it held is forgotten.
  ///   - limit: How many records at most, 1 or more. A reader may stop earlier, at about 1 MB.
  /// - Returns: false when the input has ended; the batch may hold records even then.
  /// - Throws: `ReadError` when the input is not well-formed; the batch then holds the records
  ///   before the fault.
  func read(into batch: RecordBatch, limit: Int) throws(ReadError) -> Bool

  /// How many source bytes were consumed from the input so far, before decompression.
  var consumedByteCount: Int { get }

  /// How many records each record path had so far; nil while its place was not met at all.
  var recordCounts: [Int?] { get }
}

/// A stream of bytes, pulled.
protocol ByteSource: AnyObject {
  /// The name of the input for messages.
  var name: String { get }
  /// Reads up to `buffer.count` bytes; 0 means the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int
  /// How many bytes of the file itself (before decompression) were read so far.
  var consumedByteCount: Int { get }
}

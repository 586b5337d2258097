import CSimdJSON

/// Reads one JSON text of whatever size and adds all of it to a shape.
///
/// Values of up to `wholeByteCount` bytes are parsed as a whole, larger containers are gone through
/// member by member: so only one window of the text is in memory, wherever its records stand.
final class JSONShapeReader {
  /// A container that the reader is inside of.
  private struct Frame {
    let shape: FeedShape
    let isObject: Bool
    /// The shape of elements, of arrays.
    let element: FeedShape?
    /// The object that holds the value, or that the container is.
    let owner: Int
    /// The record that the container is; nil: it is none.
    let record: FeedShape?
    var count = 0
    var place = 0
  }

  @exclusivity(unchecked) private var window: SourceWindow
  private let text: JSONText
  private let recorder: ShapeRecorder
  private let batch = RecordBatch()
  @exclusivity(unchecked) private var frames: [Frame] = []

  private static let wholeByteCount = 256 << 10

  init(
    source: any ByteSource,
    _ recorder: ShapeRecorder,
    limit: RecordLimit
  ) throws(ReadError) {
    window = SourceWindow(source: source, limit: limit)
    text = try JSONText()
    self.recorder = recorder
  }

  /// Reads all of the text.
  func read(as root: FeedShape) throws(ReadError) {
    window.open(batch)
    try window.skipByteOrderMark(batch)
    try takeValue(as: root, owner: 0, isElement: false)
    while let frame = frames.last {
      if window.position >= SourceWindow.targetByteCount {
        window.close(batch)
        window.open(batch)
      }
      if frame.isObject { try takeMember(of: frame) } else { try takeElement(of: frame) }
    }
    guard try window.peek(batch) != nil else { return }
    throw window.fault(batch, "Something stands behind the end of the JSON text")
  }

  private func takeMember(of frame: Frame) throws(ReadError) {
    guard try separator(closing: UInt8(ascii: "}")) else { return }
    guard try window.peek(batch) == UInt8(ascii: "\"") else {
      throw window.fault(batch, "A member's name is missing")
    }
    let length = try window.scan(batch)
    let node = batch.nodes[Int(try text.parse(batch, start: window.position, length: length))]
    let member = frame.shape.member(
      batch.bytes(node.text, node.length),
      space: 0,
      isAttribute: false,
      at: &frames[frames.count - 1].place
    )
    recorder.enterMember(member, of: frame.owner)
    forget()
    window.position += length
    guard try window.peek(batch) == UInt8(ascii: ":") else {
      throw window.fault(batch, "A colon is missing")
    }
    window.position += 1
    try takeValue(as: member, owner: frame.owner, isElement: false)
  }

  private func takeElement(of frame: Frame) throws(ReadError) {
    if takeTogether(frame) { return }
    guard try separator(closing: UInt8(ascii: "]")), let element = frame.element else { return }
    guard frame.count < recorder.recordLimit else {
      _ = try window.peek(batch)
      window.position += try window.scan(batch)
      return
    }
    try takeValue(as: element, owner: frame.owner, isElement: true)
  }

  /// Takes the elements behind an earlier one that stand whole in the window.
  ///
  /// - Returns: Whether there was any.
  private func takeTogether(_ frame: Frame) -> Bool {
    let room = recorder.recordLimit - frame.count
    guard frame.count > 0, room > 0, let element = frame.element else { return false }
    let found = window.parseTogether(with: text, batch, limit: room)
    guard !found.isEmpty else { return false }
    for place in found { recorder.see(record: place.node, batch, as: element, in: frame.owner) }
    frames[frames.count - 1].count += found.count
    forget()
    return true
  }

  /// Takes the value at the position, or enters it where it is large.
  private func takeValue(
    as shape: FeedShape,
    owner: Int,
    isElement: Bool
  ) throws(ReadError) {
    guard let byte = try window.peek(batch) else { throw window.cutOff(batch) }
    let isObject = byte == UInt8(ascii: "{")
    let isContainer = isObject || byte == UInt8(ascii: "[")
    var state = JSONScan()
    while true {
      var length = window.scanned(&state, batch)
      if length == 0 {
        let available = batch.sourceCount - window.position
        if isContainer, available >= Self.wholeByteCount {
          return try enter(shape, isObject: isObject, owner: owner, isElement: isElement)
        }
        if try window.fill(batch) { continue }
        length = available
      }
      try window.limit.check(batch, start: window.position, length: length)
      let node = try text.parse(batch, start: window.position, length: length)
      if isElement {
        recorder.see(record: node, batch, as: shape, in: owner)
      } else {
        recorder.see(node, batch, as: shape, nil, owner)
      }
      forget()
      window.position += length
      return
    }
  }

  private func enter(
    _ shape: FeedShape,
    isObject: Bool,
    owner: Int,
    isElement: Bool
  ) throws(ReadError) {
    guard frames.count < Int(JSON_MAX_DEPTH) else { throw window.tooDeep(batch) }
    window.position += 1
    if isElement { recorder.enterRecord(shape, in: owner) }
    frames.append(
      Frame(
        shape: shape,
        isObject: isObject,
        element: isObject ? nil : recorder.enterArray(shape),
        owner: isObject ? recorder.enterObject(shape) : owner,
        record: isElement ? shape : nil
      )
    )
  }

  /// Moves over white space and the comma before the next element or member.
  ///
  /// - Returns: false when the container ended; it is then left.
  private func separator(closing: UInt8) throws(ReadError) -> Bool {
    guard let byte = try window.peek(batch) else { throw window.cutOff(batch) }
    let last = frames.count - 1
    if byte == closing {
      window.position += 1
      let frame = frames.removeLast()
      if !frame.isObject { recorder.leaveArray(frame.shape, count: frame.count) }
      if let record = frame.record { recorder.leaveRecord(record) }
      return false
    }
    if frames[last].count > 0 {
      guard byte == UInt8(ascii: ",") else { throw window.fault(batch, "A comma is missing") }
      window.position += 1
      if try window.peek(batch) == closing {
        throw window.fault(batch, "Something is missing behind the comma")
      }
    }
    frames[last].count += 1
    return true
  }

  private func forget() {
    batch.didAppendNodes(to: 0)
    batch.arenaEnd = 0
  }
}

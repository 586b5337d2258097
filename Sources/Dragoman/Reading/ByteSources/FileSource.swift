import DragomanGraph

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The bytes of a file, read as they are asked for.
///
/// Regular files and named pipes can be read; what has no end or no bytes of its own
/// (directories, devices, sockets) is refused before it is opened, and so is a database, which this process may have
/// open (`FileHead`).
final class FileSource: ByteSource {
  let name: String
  private(set) var consumedByteCount = 0
  private let descriptor: CInt
  private var watch: FileWatch

  /// Opens the file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - admitsGrowth: What is asked at its end where it has grown since it was opened.
  /// - Throws: `ReadError` with code `missing`, `permission`, `unsupported`, `format` or `inputOutput`.
  init(path: String, admittingGrowth admitsGrowth: FileWatch.Growth? = nil) throws(ReadError) {
    name = path
    guard !FilePath.isCut(path) else {
      throw ReadError(
        .missing,
        "There is no file \(printable(path)): its path holds U+0000, at which the system would end it."
      )
    }
    guard let status = FileStatus(path) else { throw Self.openError(path, errno) }
    if let kind = Self.unsupportedKind(status.kind) {
      throw ReadError(.unsupported, "\(path) is \(kind), which cannot be read as a feed.")
    }
    if FileHead.isDatabase(path), let other = OtherFormat(FileHead.databaseMagic) {
      throw other.refusal(of: path)
    }
    var opened = open(path, O_RDONLY | O_CLOEXEC)
    while opened < 0, errno == EINTR { opened = open(path, O_RDONLY | O_CLOEXEC) }
    guard opened >= 0 else { throw Self.openError(path, errno) }
    descriptor = opened
    watch = FileWatch(opened, admitsGrowth)
  }

  deinit { close(descriptor) }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    let count = try readDescriptor(descriptor, into: buffer, name: name)
    if count == 0 { try watch.checkEnd(of: descriptor, name: name) }
    consumedByteCount += count
    return count
  }

  /// What a file that cannot be a feed is; nil for the kinds that can be read.
  private static func unsupportedKind(_ kind: FileStatus.Kind) -> String? {
    switch kind {
    case .regular, .pipe: nil
    case .folder: "a directory"
    case .characterDevice, .blockDevice: "a device"
    case .socket: "a socket"
    case .other: "no regular file"
    }
  }

  private static func openError(_ path: String, _ number: CInt) -> ReadError {
    switch number {
    case ENOENT, ENOTDIR:
      ReadError(.missing, "There is no file \(path).")
    case EACCES, EPERM:
      ReadError(.permission, "The file \(path) may not be read: permission is denied.")
    default:
      ReadError(.inputOutput, "The file \(path) cannot be opened: \(errorText(number)).")
    }
  }
}

/// Reads from a descriptor, again where a signal interrupted it; 0 means the end.
///
/// A pipe whose other users have it never wait (`O_NONBLOCK`) is waited for all the same.
func readDescriptor(
  _ descriptor: CInt,
  into buffer: UnsafeMutableRawBufferPointer,
  name: String
) throws(ReadError) -> Int {
  while true {
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    if count >= 0 { return count }
    let number = errno
    if number == EINTR { continue }
    if number == EAGAIN {
      var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&state, 1, -1)
      continue
    }
    throw ReadError(.inputOutput, "Reading \(name) failed: \(errorText(number)).")
  }
}

/// What the system says about an error number.
private func errorText(_ number: CInt) -> String {
  var text = [CChar](repeating: 0, count: 256)
  guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
  return text.withUnsafeBytes { bytes in
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

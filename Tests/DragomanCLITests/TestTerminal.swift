import Foundation

/// A terminal at which the tool is run: its standard input and standard error.
final class TestTerminal {
  struct Failure: Error {}

  private let main: Int32
  private let other: Int32

  /// - Throws: `Failure` where the system has no terminal left.
  init(columns: UInt16 = 80) throws {
    main = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    guard main >= 0 else { throw Failure() }
    #if os(Linux)
    // What unlockpt(3) and ptsname(3) do, which Glibc shows to Swift on no condition: TIOCSPTLCK, TIOCGPTN.
    var (lock, number): (Int32, UInt32) = (0, 0)
    guard ioctl(main, 0x4004_5431, &lock) == 0, ioctl(main, 0x8004_5430, &number) == 0 else {
      throw Failure()
    }
    other = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    #else
    guard grantpt(main) == 0, unlockpt(main) == 0, let name = ptsname(main) else { throw Failure() }
    other = open(name, O_RDWR | O_NOCTTY)
    #endif
    guard other >= 0 else { throw Failure() }
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(main, UInt(TIOCSWINSZ), &size) == 0 else { throw Failure() }
  }

  deinit {
    close(main)
  }

  /// Runs the tool once.
  ///
  /// - Parameters:
  ///   - arguments: Those of the command line.
  ///   - folder: Where it runs.
  ///   - text: What is typed, before anybody asks for it.
  ///   - environment: Variables besides those of the test.
  ///   - showsOutput: Whether standard output is the terminal, too.
  /// - Returns: Its end; `errors` is what was on the screen.
  /// - Throws: What starting a process throws.
  func run(
    _ arguments: [String],
    in folder: ToolFolder,
    typing text: String = "",
    environment: [String: String] = [:],
    showsOutput: Bool = false
  ) throws -> ToolFolder.Run {
    let process = Process()
    process.executableURL = ToolFolder.tool
    process.arguments = arguments
    process.currentDirectoryURL = folder.url
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    let handle = FileHandle(fileDescriptor: other, closeOnDealloc: true)
    process.standardInput = handle
    process.standardError = handle
    process.standardOutput = showsOutput ? handle as Any : output as Any
    try FileHandle(fileDescriptor: main, closeOnDealloc: false).write(contentsOf: Data(text.utf8))
    try process.run()
    try handle.close()
    if showsOutput { try output.fileHandleForWriting.close() }
    // The terminal ends with an error when its other end is closed.
    var screen: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(main, &piece, piece.count)
      if count <= 0 { break }
      screen += piece[..<count]
    }
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return ToolFolder.Run(
      status: process.terminationStatus,
      output: String(decoding: printed, as: UTF8.self),
      errors: String(decoding: screen, as: UTF8.self)
    )
  }
}

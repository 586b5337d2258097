import DragomanGraph
import Foundation
import Synchronization

/// The lines of a rejects file that a retry leaves alone; the reading thread tells them.
final class RetriedLines: Sendable {
  private let kept = Mutex<Set<Int>>([])

  /// Leaves a line as it is, by its number from 1.
  func keep(_ number: Int) { kept.withLock { _ = $0.insert(number) } }

  /// Whether a line is left as it is.
  func isKept(_ number: Int) -> Bool { kept.withLock { $0.contains(number) } }
}

/// Writes a rejects file again when its records have been imported: without those that went in.
///
/// Lines of records that were rejected again stand in their old places with the new reason; lines that were left
/// alone are the same bytes.
final class RejectsRewriting: RejectsOutput {
  private let replacement: RejectsReplacement
  private let retried: RetriedLines
  /// New lines, in a file that nobody else sees.
  private let fresh: UnnamedFile
  private var places: [Int: (start: Int, count: Int)] = [:]
  private var byteCount = 0

  /// - Parameters:
  ///   - path: The file; a link is followed.
  ///   - retried: The lines that stay as they are.
  /// - Throws: `.output` where the file is none that can be replaced.
  init(_ path: String, _ retried: RetriedLines) throws(ImportError) {
    replacement = try RejectsReplacement(path)
    self.retried = retried
    do throws(StoreError) {
      fresh = try UnnamedFile()
    } catch {
      throw ImportError(.inputOutput, error.message, help: error.help)
    }
  }

  func write(_ issue: ImportIssue, _ record: RejectedRecord) throws(ImportError) {
    guard let number = record.again?.number else { return }
    var line: [UInt8] = []
    record.appendLine(of: issue, to: &line)
    guard pwrite(fresh.descriptor, line, line.count, off_t(byteCount)) == line.count else {
      throw replacement.failure(errno)
    }
    places[number] = (byteCount, line.count)
    byteCount += line.count
  }

  /// Replaces the file.
  ///
  /// - Throws: `.inputOutput` where that fails: the file is as it was, and what has a key is found unchanged by another
  ///   retry.
  func finish() throws(ImportError) {
    try replacement.replace { number, line throws(ImportError) in
      if retried.isKept(number) { return line }
      return try places[number].map(newLine) ?? []
    }
  }

  private func newLine(_ place: (start: Int, count: Int)) throws(ImportError) -> [UInt8] {
    var line = [UInt8](repeating: 0, count: place.count)
    guard pread(fresh.descriptor, &line, place.count, off_t(place.start)) == place.count else {
      throw replacement.failure(EIO)
    }
    return line
  }
}

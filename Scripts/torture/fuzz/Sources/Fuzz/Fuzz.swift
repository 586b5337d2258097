import Foundation

/// What libFuzzer calls with each input; the environment says which target gets them.
///
/// See https://llvm.org/docs/LibFuzzer.html. A target must take every input: what is wrong with it is an error
/// that the target catches. What it promises besides it checks itself, and traps.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  target(UnsafeRawBufferPointer(start: start, count: count))
  return 0
}

typealias Target = @Sendable (UnsafeRawBufferPointer) -> Void

/// The targets, by their names.
let targets: [String: Target] = [
  "json": ReaderTargets.json, "ndjson": ReaderTargets.ndjson, "xml": ReaderTargets.xml,
  "csv": ReaderTargets.csv, "map": TextTargets.map, "predicate": TextTargets.predicate,
  "dates": TextTargets.dates, "numbers": TextTargets.numbers, "store": StoreTarget.open,
]

private let target: Target = {
  let name = ProcessInfo.processInfo.environment["DRAGOMAN_FUZZ"] ?? ""
  guard let found = targets[name] else {
    fatalError("DRAGOMAN_FUZZ is one of \(targets.keys.sorted().joined(separator: ", ")).")
  }
  return found
}()

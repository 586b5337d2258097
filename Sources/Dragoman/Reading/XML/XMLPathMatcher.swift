import CLibXML2

/// Follows the record paths while elements open and close.
///
/// Names are compared by address: libxml2 keeps every name of a document once, in a dictionary
/// that the names of the paths are put into as well.
struct XMLPathMatcher {
  private struct Step {
    /// The local name; nil is any element.
    var name: UnsafePointer<UInt8>?
    /// The namespace URI; nil is none.
    var space: UnsafePointer<UInt8>?
  }

  private struct Path {
    var steps: Range<Int>
    /// How many of the steps the open elements match, from the root.
    var matched = 0
    /// The index of the open record in the batch; -1 when none is open.
    var record = -1
    /// How many records were opened, and how many of them completed.
    var opened = 0
    var completed = 0
    /// Whether the element was seen that contains the records, and whether it had other children.
    var sawContainer: Bool
    var sawOthers = false
  }

  private let steps: UnsafeMutableBufferPointer<Step>
  private let paths: UnsafeMutableBufferPointer<Path>
  /// The number of steps of the longest path: deeper elements need not be looked at.
  let longest: Int

  init(_ recordPaths: [XMLRecordPath], dictionary: xmlDictPtr?) {
    var allSteps: [Step] = []
    var allPaths: [Path] = []
    for recordPath in recordPaths {
      let start = allSteps.count
      for step in recordPath.steps {
        switch step {
        case .any:
          allSteps.append(Step())
        case .element(let name, let namespace):
          allSteps.append(
            Step(
              name: xmlDictLookup(dictionary, name, -1),
              space: namespace.flatMap { xmlDictLookup(dictionary, $0, -1) }
            )
          )
        }
      }
      let steps = start..<allSteps.count
      allPaths.append(Path(steps: steps, sawContainer: steps.count == 1))
    }
    steps = .allocate(capacity: allSteps.count)
    _ = steps.initialize(from: allSteps)
    paths = .allocate(capacity: allPaths.count)
    _ = paths.initialize(from: allPaths)
    longest = allPaths.map(\.steps.count).max() ?? 0
  }

  func deallocate() {
    steps.deallocate()
    paths.deallocate()
  }

  /// How many paths there are.
  var count: Int { paths.count }

  /// How many records of each path were completed; nil while its place was not met.
  ///
  /// An element without any children in place of the records' parent is an empty feed; one with
  /// other children only speaks for a path that is wrong.
  var recordCounts: [Int?] {
    paths.map { path in
      path.completed > 0 || (path.sawContainer && !path.sawOthers) ? path.completed : nil
    }
  }

  /// An element opens at a depth (the root's is 1); true when it is a record.
  func enter(
    name: UnsafePointer<UInt8>,
    space: UnsafePointer<UInt8>?,
    depth: Int
  ) -> Bool {
    var isRecord = false
    for index in paths.indices {
      let path = paths[index]
      guard path.matched == depth - 1, depth <= path.steps.count else { continue }
      let step = steps[path.steps.lowerBound + depth - 1]
      guard step.name == nil || (step.name == name && step.space == space) else {
        if depth == path.steps.count { paths[index].sawOthers = true }
        continue
      }
      paths[index].matched = depth
      if depth == path.steps.count - 1 { paths[index].sawContainer = true }
      if depth == path.steps.count { isRecord = true }
    }
    return isRecord
  }

  /// The element at a depth has ended.
  func leave(depth: Int) {
    for index in paths.indices where paths[index].matched == depth {
      paths[index].matched = depth - 1
    }
  }

  /// Whether the element at a depth is a record of the path.
  func isComplete(_ path: Int, depth: Int) -> Bool {
    paths[path].matched == depth && paths[path].steps.count == depth
  }

  /// Remembers the open record of a path, and returns its number, from 1.
  func open(_ path: Int, record: Int) -> Int {
    paths[path].record = record
    paths[path].opened += 1
    return paths[path].opened
  }

  /// Counts the open record of a path as completed, and returns it.
  func close(_ path: Int) -> Int? {
    guard paths[path].record >= 0 else { return nil }
    defer { paths[path].record = -1 }
    paths[path].completed += 1
    return paths[path].record
  }
}

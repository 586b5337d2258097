/// Where the records of a text's sources stand, followed step by step from its root.
struct JSONRecordPaths {
  /// A path that may still lead to records, as far as it has been followed.
  struct Candidate {
    let source: Int
    /// How many of the path's steps lead to the value at hand.
    fileprivate var matched = 0
  }

  private let paths: [[ForeignPath.Step]]
  /// Which of the paths are JSON Pointers.
  private let pointers: [Bool]

  /// - Parameters:
  ///   - paths: Where records stand, an entry a source; no steps means the root.
  ///   - pointers: Which of the paths are JSON Pointers, whose decimal tokens are names in objects.
  init(_ paths: [[ForeignPath.Step]], pointers: [Bool]) {
    self.paths = paths
    self.pointers = pointers.isEmpty ? paths.map { _ in false } : pointers
  }

  /// All paths, at the root of the text.
  var all: [Candidate] { paths.indices.map { Candidate(source: $0) } }

  /// The source whose path ends at the value at hand.
  func source(endingAt candidates: [Candidate]) -> Int? {
    candidates.first { $0.matched == paths[$0.source].count }?.source
  }

  /// The source whose list is wanted where the value at hand stands, which is none and so stands
  /// for a list of one.
  func source(wantingListAt candidates: [Candidate], startingWith byte: UInt8) -> Int? {
    guard byte != UInt8(ascii: "["), byte != UInt8(ascii: "n") else { return nil }
    return candidates.first { candidate in
      let path = paths[candidate.source]
      return candidate.matched + 1 == path.count && path.last == .all && candidate.matched > 0
    }?.source
  }

  /// Whether the path's last step names each record rather than what contains them.
  func endsInWildcard(_ source: Int) -> Bool {
    switch paths[source].last {
    case .anyMember, .all: true
    default: false
    }
  }

  /// The sources whose records are the members or elements of the value at hand, by the byte that it
  /// begins with; a null in their place has none.
  func sources(within candidates: [Candidate], startingWith byte: UInt8) -> [Int] {
    candidates.compactMap { candidate in
      let path = paths[candidate.source]
      // The lists of a dictionary without members are there, and empty.
      let isAbove = path.suffix(2) == [.anyMember, .all] && candidate.matched + 2 == path.count
      if isAbove, byte == UInt8(ascii: "{") { return candidate.source }
      guard candidate.matched + 1 == path.count else { return nil }
      switch (path.last, byte) {
      case (.anyMember, UInt8(ascii: "{")), (.all, UInt8(ascii: "[")): return candidate.source
      case (.anyMember, UInt8(ascii: "n")) where candidate.matched > 0: return candidate.source
      case (.all, UInt8(ascii: "n")) where candidate.matched > 0: return candidate.source
      default: return nil
      }
    }
  }

  /// The paths that lead on to an element of an array.
  func follow(_ candidates: [Candidate], toElement index: Int) -> [Candidate] {
    follow(candidates) { step, _ in
      switch step {
      case .index(let wanted): wanted == index
      case .all: true
      default: false
      }
    }
  }

  /// The paths that lead on to a member of an object.
  func follow(_ candidates: [Candidate], toMember name: UnsafeRawBufferPointer) -> [Candidate] {
    follow(candidates) { step, isPointer in
      switch step {
      case .member(let wanted, _): wanted.utf8.elementsEqual(name)
      case .index(let wanted): isPointer && String(wanted).utf8.elementsEqual(name)
      case .anyMember: true
      default: false
      }
    }
  }

  private func follow(
    _ candidates: [Candidate],
    where matches: (ForeignPath.Step, _ isPointer: Bool) -> Bool
  ) -> [Candidate] {
    candidates.compactMap { candidate in
      let path = paths[candidate.source]
      guard candidate.matched < path.count,
        matches(path[candidate.matched], pointers[candidate.source])
      else { return nil }
      return Candidate(source: candidate.source, matched: candidate.matched + 1)
    }
  }
}

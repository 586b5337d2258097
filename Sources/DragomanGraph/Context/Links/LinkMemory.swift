/// What a context knows of stored links.
struct LinkMemory {
  /// Counts how often what objects know of their targets was forgotten.
  private(set) var round: UInt32 = 0
  /// Rows that were deleted while the context lived: links that still name them lead nowhere.
  var goneRows: Set<RowKey> = []
  /// What the context's `settles` were when anything was read last.
  private var settles = 0
  /// The places behind the last ones of ordered lists that were added to.
  var ends: [LinkKey: Int64] = [:]

  /// Forgets which targets there are: they are read again when they are asked for.
  mutating func forgetTargets() {
    round &+= 1
    ends = [:]
  }

  /// Forgets them where somebody has stored changes, of this context or of one above, since they were read.
  mutating func check(_ settles: Int) {
    guard settles != self.settles else { return }
    self.settles = settles
    forgetTargets()
  }
}

extension ImportMap {
  /// Refuses a map with paths that mean nothing: one built in code was perhaps never checked.
  func checkPaths() throws(MapFaults) {
    var validator = MapValidator(self, positions: [:])
    for entity in entities { validator.checkPaths(of: entity) }
    for source in sources { validator.checkRecords(of: source) }
    guard validator.faults.isEmpty else { throw MapFaults(validator.faults) }
  }
}

extension ForeignPaths {
  /// The paths of all formats.
  var all: [ForeignPath] { json + xml + csv }
}

extension ForeignPath {
  /// The path of what says nothing of where it is read from: the member of its name.
  init(own name: String) {
    self.init(steps: [.member(name, namespace: nil)], text: name)
  }

  /// Whether the path may name several values.
  var hasWildcard: Bool { steps.contains { $0 == .all || $0 == .anyMember } }

  /// Whether the path chooses among elements.
  var hasFilter: Bool {
    steps.contains { if case .having = $0 { true } else { false } }
  }
}

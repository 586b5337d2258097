/// Where the records of one source stand in an XML document: an absolute path of elements.
struct XMLRecordPath: Sendable, Hashable {
  /// One step of the path.
  enum Step: Sendable, Hashable {
    /// A child element of that local name in that namespace; nil is "in no namespace", as in
    /// XPath 1.0 a name without prefix is.
    case element(String, namespace: String?)
    /// Any child element.
    case any
  }

  /// The steps from the document: the first is the root element.
  var steps: [Step]

  /// Makes a path from its steps.
  init(_ steps: [Step]) {
    self.steps = steps
  }

  /// Makes a path from one of a map, or nil where it has no steps or names anything but elements.
  init?(_ path: ForeignPath) {
    var steps: [Step] = []
    for step in path.steps {
      switch step {
      case .member(let name, let namespace): steps.append(.element(name, namespace: namespace))
      case .anyMember: steps.append(.any)
      case .attribute, .index, .all, .text, .having: return nil
      }
    }
    guard !steps.isEmpty else { return nil }
    self.steps = steps
  }
}

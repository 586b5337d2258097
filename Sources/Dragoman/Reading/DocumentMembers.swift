/// Which members of a JSON text, or elements of an XML document, stand before its records and are asked
/// for by `$root` paths.
enum DocumentMembers: Equatable, Sendable {
  case none
  /// Those of these names, as UTF-8.
  case named(Set<[UInt8]>)
  case all

  /// The members that paths ask for.
  init(of paths: [ForeignPath]) {
    let steps = paths.filter { $0.root == .document }.map(\.steps.first)
    var names: Set<[UInt8]> = []
    for step in steps {
      switch step {
      case .member(let name, _): names.insert(Array(name.utf8))
      // The root element's attributes are always kept.
      case .attribute: break
      default:
        self = .all
        return
      }
    }
    self = steps.isEmpty ? .none : .named(names)
  }

  /// Whether a member of that name is kept.
  func has(_ name: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .none: false
    case .named(let names): names.contains(Array(name))
    case .all: true
    }
  }
}

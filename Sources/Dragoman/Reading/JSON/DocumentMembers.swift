/// Which members of a JSON text stand before its records and are asked for by `$root` paths.
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
      guard case .member(let name, _) = step else {
        self = .all
        return
      }
      names.insert(Array(name.utf8))
    }
    self = names.isEmpty ? .none : .named(names)
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

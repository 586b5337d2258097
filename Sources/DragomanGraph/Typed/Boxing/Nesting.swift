/// The values that are being read inside of each other, outermost first: none may hold itself, and
/// there is an end to how deep they go.
struct Nesting<Key: Equatable> {
  private var open: [(type: ObjectIdentifier, key: Key)] = []

  /// Goes into a value.
  ///
  /// - Parameters:
  ///   - type: Its type.
  ///   - key: Its object.
  ///   - entity: The name of its entity.
  ///   - number: The primary key of its object.
  ///   - instead: What a property can be declared as, to end a cycle.
  /// - Throws: `ValueError.cycle` where it is open already, or too many are.
  mutating func enter(
    _ type: Any.Type,
    _ key: Key,
    entity: @autoclosure () -> String,
    number: Int64,
    instead: @autoclosure () -> String
  ) throws(ValueError) {
    let id = ObjectIdentifier(type)
    guard !open.contains(where: { $0.type == id && $0.key == key }) else {
      throw ValueError(
        .cycle,
        "\(entity()) \(number) would hold itself: it is reached again through its own"
          + " relationships.",
        entity: entity(),
        help: "declare one of the properties on the way as \(instead())"
      )
    }
    guard open.count < ValueError.maximumDepth else {
      throw .tooDeep(entity(), instead: instead())
    }
    open.append((id, key))
  }

  /// Leaves the innermost value.
  mutating func leave() { open.removeLast() }
}

extension ValueError {
  /// Deeper than this and the stack of a thread may end.
  static let maximumDepth = 256

  /// Values that are nested too deep.
  static func tooDeep(_ entity: String, instead: String) -> ValueError {
    ValueError(
      .cycle,
      "Values are nested more than \(maximumDepth) deep.",
      entity: entity,
      help: "declare one of the properties on the way as \(instead)"
    )
  }
}

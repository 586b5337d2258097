import Synchronization

/// Values that layers above keep with a stack, by their type.
package final class Attachments: Sendable {
  private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

  /// The value of a type; made when it is asked for the first time.
  package func value<T: Sendable>(_ make: () throws -> T) rethrows -> T {
    let key = ObjectIdentifier(T.self)
    if let known = values.withLock({ $0[key] as? T }) { return known }
    let made = try make()
    return values.withLock { values in
      if let known = values[key] as? T { return known }
      values[key] = made
      return made
    }
  }
}

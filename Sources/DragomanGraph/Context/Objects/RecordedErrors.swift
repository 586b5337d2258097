/// What properties met that they could not throw, until a save or the end of a closure throws it.
struct RecordedErrors {
  /// The first error of reading.
  private var reading: (any Error)?
  /// Every property that did not take what it was set to.
  private var refusals: [(fault: ObjectFault, error: any Error)] = []

  /// Whether some property was set to what it does not take.
  var hasRefusals: Bool { !refusals.isEmpty }
  /// The first error.
  var first: (any Error)? { refusals.first?.error ?? reading }

  /// A property could not be read.
  mutating func add(_ error: any Error) { if reading == nil { reading = error } }

  /// A property of an object did not take a value; it stays as it was.
  mutating func refuse(_ error: any Error, _ property: String, of object: ManagedObject) {
    accept(property, of: object)
    let fault = ObjectFault(
      object: object.objectID,
      entity: object.layout.name,
      property: property,
      rule: .type,
      message: (error as? any TellingError)?.message ?? "\(error)"
    )
    refusals.append((fault, error))
  }

  /// A property took a value: what it refused before is no fault any more.
  mutating func accept(_ property: String, of object: ManagedObject) {
    guard hasRefusals else { return }
    let id = object.objectID
    refusals.removeAll {
      $0.fault.object == id && $0.fault.property?.utf8.elementsEqual(property.utf8) == true
    }
  }

  /// Takes what is to be thrown, which is forgotten.
  ///
  /// - Parameter faults: What else is wrong.
  /// - Returns: The only refusal as the error that it was, several faults as `.invalid`; where nothing was
  ///   refused, the error of reading, if there is one.
  mutating func take(besides faults: [ObjectFault] = []) -> (any Error)? {
    guard let first = refusals.first else {
      defer { reading = nil }
      return reading
    }
    defer { refusals = [] }
    let faults = refusals.map(\.fault) + faults
    return faults.count == 1 ? first.error : ContextError(.invalid, faults)
  }
}

/// Tells what hinders a look at the store, and passes, from errors that stay.
struct Hindrances {
  /// How many looks in a row have lost the connection.
  private var lossCount = 0

  /// Whether the next look may succeed: somebody held a lock, or the connection was lost, and that not a hundred
  /// times in a row.
  mutating func mayPass(_ error: any Error) -> Bool {
    guard let error = error as? StoreError else { return false }
    if error.code == .busy { return true }
    guard error.isPassing else { return false }
    lossCount += 1
    return lossCount <= 100
  }

  /// A look has succeeded.
  mutating func end() { lossCount = 0 }
}

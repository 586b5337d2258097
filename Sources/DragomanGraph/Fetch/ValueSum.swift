/// A sum that does not depend on the order of its terms, and their mean.
///
/// SQL and memory add with the same type: `dragoman_sum_…` and `dragoman_avg_…` of `FetchFunctions`.
struct ValueSum {
  /// What kind of number is added up.
  enum Kind: Int, CaseIterable {
    /// Integers; beyond 64 bits there is an error.
    case integer = 1
    /// Doubles, exactly, rounded once.
    case real = 2
    /// Decimals, exactly.
    case decimal = 3

    init?(_ type: AttributeType) {
      switch type {
      case .int16, .int32, .int64: self = .integer
      case .double, .float: self = .real
      case .decimal: self = .decimal
      default: return nil
      }
    }

    /// The word in the names of the SQL functions.
    var word: String { "\(self)" }
  }

  /// Why there is no sum.
  struct Overflow: Error {
    let message = "the sum of the integers has more than 64 bits"
  }

  private enum Total {
    case integer(Int128)
    case real(ExactRealSum)
    case decimal(DecimalSum)
  }

  private var total: Total
  private var count: Int64 = 0

  init(_ kind: Kind) {
    switch kind {
    case .integer: total = .integer(0)
    case .real: total = .real(ExactRealSum())
    case .decimal: total = .decimal(DecimalSum())
    }
  }

  /// Adds a term; null, and what a hand-edited file may hold instead of a number, is passed over.
  mutating func add(_ value: StoredValue) {
    switch (total, value) {
    case (.integer(let sum), .integer(let term)):
      total = .integer(sum + Int128(term))
      count += 1
    case (.real(var sum), .real(let term)):
      total = .integer(0)  // So that the array of the sum is not copied.
      sum.add(term)
      total = .real(sum)
      count += 1
    case (.decimal(var sum), .text(let term)):
      total = .integer(0)
      if sum.add(term) { count += 1 }
      total = .decimal(sum)
    default: break
    }
  }

  /// The sum; of nothing 0, of infinities of both signs null.
  func sum() throws(Overflow) -> StoredValue {
    switch total {
    case .integer(let sum):
      guard let value = Int64(exactly: sum) else { throw Overflow() }
      return .integer(value)
    case .real(let sum): return sum.value.map(StoredValue.real) ?? .null
    case .decimal(let sum): return .text(sum.text)
    }
  }

  /// The mean; of nothing null.
  var average: StoredValue {
    guard count > 0 else { return .null }
    switch total {
    case .integer(let sum): return .real(Double(sum) / Double(count))
    case .real(let sum): return sum.mean(of: Int(count)).map { .real($0) } ?? .null
    case .decimal(let sum): return .text(sum.divided(by: count))
    }
  }
}

import Foundation
import TestSupport
import Testing

@testable import DragomanGraph

@Suite("Sums and means")
struct ValueSumTests {
  private func total(_ kind: ValueSum.Kind, _ values: [StoredValue]) -> ValueSum {
    var total = ValueSum(kind)
    for value in values { total.add(value) }
    return total
  }

  @Test(
    "Doubles are added exactly and rounded once",
    arguments: [
      ([], 0), ([0.1, 0.2], 0.30000000000000004), ([0.1, 0.2, 0.3], 0.6),
      ([1e100, 1, -1e100], 1), ([1e308, 1e308, -1e308], 1e308), ([1e308, 1e308], .infinity),
      ([-1e308, -1e308], -.infinity),
      ([.leastNonzeroMagnitude, .leastNonzeroMagnitude], .leastNonzeroMagnitude.nextUp),
      ([.leastNormalMagnitude, -.leastNonzeroMagnitude], .leastNormalMagnitude.nextDown),
      ([1, 0x1p-53], 1), ([1, 0x1p-53, 0x1p-1074], 1 + 0x1p-52),
      ([1 + 0x1p-52, 0x1p-53], 1 + 0x1p-51),
      ([-1, -0x1p-53, -0x1p-1074], -1 - 0x1p-52),
      ([.greatestFiniteMagnitude, 0x1p969], .greatestFiniteMagnitude),
      ([.greatestFiniteMagnitude, 0x1p970], .infinity), ([.infinity, 1], .infinity), ([-0.0], 0),
    ] as [([Double], Double)]
  )
  func reals(terms: [Double], sum: Double) throws {
    for terms in [terms, terms.reversed()] {
      #expect(try total(.real, terms.map(StoredValue.real)).sum() == .real(sum))
    }
  }

  @Test("The mean of doubles is one where their sum is beyond all of them")
  func largeMeans() throws {
    let most = Double.greatestFiniteMagnitude
    for (terms, mean) in [
      ([most, most], most), ([1e308, 1.5e308], 1.25e308), ([-most, -most, -most], -most),
      ([most, most, -most, -most], 0), ([.infinity, 1], .infinity),
    ] as [([Double], Double)] {
      #expect(total(.real, terms.map(StoredValue.real)).average == .real(mean))
    }
  }

  @Test("Infinities of both signs have no sum and no mean")
  func infinities() throws {
    let sum = total(.real, [.real(.infinity), .real(-.infinity)])
    #expect(try sum.sum() == .null)
    #expect(sum.average == .null)
  }

  @Test("A sum of doubles does not depend on their order, and is the decimal one, rounded")
  func order() throws {
    let seed = Seeds.seed()
    var random = SplitMix(state: seed)
    for _ in 0..<200 {
      // Multiples of 2^-60 below 2^40 have sums that Int128 holds.
      let units = (0..<Int.random(in: 1...20, using: &random)).map { _ in
        Int64.random(in: Int64.min...Int64.max, using: &random)
          >> Int64.random(in: 0...62, using: &random)
      }
      let terms = units.map { StoredValue.real(Double($0 >> 11) * 0x1p-60) }
      let exact = units.reduce(Int128(0)) { $0 + Int128($1 >> 11) }
      let expected = StoredValue.real(Double(exact) * 0x1p-60)
      #expect(try total(.real, terms).sum() == expected, "seed \(seed)")
      #expect(try total(.real, terms.shuffled(using: &random)).sum() == expected, "seed \(seed)")
    }
  }

  @Test(
    "Decimals are added digit by digit",
    arguments: [
      ([], "0", nil), (["0.1", "0.2"], "0.3", "0.15"), (["-1.50", "1.5"], "0", "0"),
      (["999999999", "1"], "1000000000", "500000000"),
      (["0.999999999", "0.000000001"], "1", "0.5"),
      (
        ["1", "-0.0000000000000000000001"], "0.9999999999999999999999", "0.49999999999999999999995"
      ),
      (["-1000000000000000000", "1"], "-999999999999999999", "-499999999999999999.5"),
      (["-0.5", "-0.5", "0.25"], "-0.75", "-0.25"),
      (
        ["123456789012345678901234567890.5", "0.5"], "123456789012345678901234567891",
        "61728394506172839450617283945.5"
      ),
      (["1", "1", "0"], "2", "0.6666666666666667"),
      (["-1", "0", "0"], "-1", "-0.3333333333333333"),
      (["5", "0", "0", "0", "0", "0"], "5", "0.8333333333333333"),
      (["not a number", "2"], "2", "2"),
    ] as [([String], String, String?)]
  )
  func decimals(terms: [String], sum: String, average: String?) throws {
    for terms in [terms, terms.reversed()] {
      let total = total(.decimal, terms.map(StoredValue.text))
      #expect(try total.sum() == .text(sum))
      #expect(total.average == average.map(StoredValue.text) ?? .null)
    }
  }

  @Test("Decimal sums are those of Foundation where it is exact")
  func decimalSums() throws {
    let seed = Seeds.seed()
    var random = SplitMix(state: seed)
    for _ in 0..<300 {
      let terms = (0..<Int.random(in: 1...8, using: &random)).map { _ in
        Decimal(Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random))
          / pow(Decimal(10), Int.random(in: 0...12, using: &random))
      }
      let expected = DecimalText.canonical("\(terms.reduce(0, +))") ?? ""
      let sum = try total(.decimal, terms.map { .text("\($0)") }).sum()
      #expect(sum == .text(expected), "seed \(seed): \(terms)")
    }
  }

  @Test("Integers may leave 64 bits on the way, but not at the end")
  func integers() throws {
    #expect(
      try total(.integer, [.integer(.max), .integer(1), .integer(-2)]).sum() == .integer(.max - 1)
    )
    #expect(
      total(.integer, [.integer(.max), .integer(.max)]).average == .real(9.223372036854775807e18)
    )
    #expect(total(.integer, [.integer(1), .null, .integer(2)]).average == .real(1.5))
    #expect(total(.integer, []).average == .null)
    #expect(throws: ValueSum.Overflow.self) {
      try total(.integer, [.integer(.max), .integer(1)]).sum()
    }
  }

  @Test(
    "Values order as SQLite orders them, integers beside doubles exactly",
    arguments: [
      (.null, .integer(.min), -1), (.integer(.max), .text(""), -1),
      (.text("\u{10FFFF}"), .blob([]), -1),
      (.integer(.max), .real(0x1p63), -1), (.integer(.min), .real(-0x1p63), 0),
      (.integer(9_007_199_254_740_993), .real(9_007_199_254_740_992), 1),
      (.integer(1), .real(1.5), -1),
      (.integer(-1), .real(-1.5), 1), (.integer(0), .real(-0.0), 0),
      (.real(.infinity), .integer(.max), 1),
      (.text("\u{FFFD}"), .text("\u{10000}"), -1), (.text("a"), .text("ab"), -1),
      (.blob([2]), .blob([1, 3]), 1),
    ] as [(StoredValue, StoredValue, Int)]
  )
  func orders(left: StoredValue, right: StoredValue, order: Int) {
    #expect(ValueOrder.order(left, right, asDecimals: false).signum() == order)
    #expect(ValueOrder.order(right, left, asDecimals: false).signum() == -order)
  }
}

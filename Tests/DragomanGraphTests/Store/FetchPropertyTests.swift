import Foundation
import TestSupport
import Testing

@testable import DragomanGraph

/// Random filters over random tables: SQLite must answer as a plain evaluation in Swift does.
@Suite("Fetch, random filters")
struct FetchPropertyTests {
  @Test("SQL and a naive evaluation select the same rows", arguments: 0..<40)
  func agrees(round: Int) throws {
    let seed = Seeds.seed(round)
    var sample = Sample(seed: seed)
    let rows = (0..<Int.random(in: 0...25, using: &sample.random)).map { _ in sample.row() }
    let store = try store(Sample.entity, rows.map { $0.map(\.stored) })
    for _ in 0..<60 {
      let filter = sample.filter(depth: 3)
      let expected = rows.indices.filter { holds(filter, rows[$0]) }.map { Int64($0 + 1) }
      let actual = try store.keys(FetchRequest("T", filter: filter))
      #expect(actual == expected, "seed \(seed): \(filter)")
      let reread = try Filter(parsing: text(filter))
      #expect(reread == filter, "seed \(seed): \(text(filter))")
    }
  }
}

/// A value with everything the naive evaluation needs to know of it.
private enum Cell {
  case null
  case text(Int)
  case integer(Int64)
  case real(Double)
  case decimal(String)
  case instant(Int)

  var stored: StoredValue {
    switch self {
    case .null: .null
    case .text(let index): .text(Sample.texts[index].plain)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .decimal(let digits): .text(digits)
    case .instant(let index): .text(Sample.instants[index].canonical)
    }
  }

  /// The literal of the cell, as a predicate spells it.
  var literal: FilterValue {
    switch self {
    case .null: .null
    case .text(let index): .string(Sample.texts[index].plain)
    case .integer(let value): .number(String(value))
    case .real(let value): .number(String(value))
    case .decimal(let digits): .number(digits)
    case .instant(let index): .string(Sample.instants[index].literal)
    }
  }
}

private struct Sample {
  /// Texts and what [c], [d] and [cd] make of them, written down by hand.
  static let texts: [(plain: String, c: String, d: String, cd: String)] = [
    ("", "", "", ""), ("a", "a", "a", "a"), ("A", "a", "A", "a"), ("ab", "ab", "ab", "ab"),
    ("\u{E9}", "\u{E9}", "e", "e"), ("e\u{301}", "e\u{301}", "e", "e"),
    ("\u{C9}", "\u{E9}", "E", "e"), ("aB\u{E9}", "ab\u{E9}", "aBe", "abe"),
    ("\u{DF}", "ss", "\u{DF}", "ss"), ("SS", "ss", "SS", "ss"), ("b*", "b*", "b*", "b*"),
    ("\u{65E5}\u{672C}", "\u{65E5}\u{672C}", "\u{65E5}\u{672C}", "\u{65E5}\u{672C}"),
    ("a\u{0}b", "a\u{0}b", "a\u{0}b", "a\u{0}b"),
    ("\u{1F600}", "\u{1F600}", "\u{1F600}", "\u{1F600}"),
  ]
  /// Instants in their order: as a predicate spells them, and as docs/file.md does.
  static let instants: [(literal: String, canonical: String)] = [
    ("1999-12-31T23:30:00-00:00", "1999-12-31 23:30:00"),
    ("2000-01-01", "2000-01-01 00:00:00"),
    ("2000-01-01T01:00:00.5+01:00", "2000-01-01 00:00:00.5"),
    ("2000-01-01 00:00:01Z", "2000-01-01 00:00:01"),
    ("2024-02-29T12:00Z", "2024-02-29 12:00:00"),
  ]
  static let decimals = ["-10.5", "-2", "0", "0.1", "2", "10", "123456789012345678901234567890.5"]
  static let entity = Entity(
    name: "T",
    attributes: [
      Attribute(name: "s"), Attribute(name: "n", type: .int64), Attribute(name: "x", type: .double),
      Attribute(name: "d", type: .decimal), Attribute(name: "t", type: .timestamp),
      Attribute(name: "u", isIndexed: true),
    ]
  )
  var random: SplitMix

  init(seed: UInt64) { random = SplitMix(state: seed) }

  mutating func row() -> [Cell] { (0..<6).map { cell($0, nullable: true) } }

  mutating func cell(_ column: Int, nullable: Bool) -> Cell {
    if nullable, Int.random(in: 0..<4, using: &random) == 0 { return .null }
    switch column {
    case 1: return .integer([-1, 0, 1, 2, .max, .min].randomElement(using: &random) ?? 0)
    case 2: return .real([-0.5, 0, 0.1, 2, 1e300].randomElement(using: &random) ?? 0)
    case 3: return .decimal(Self.decimals.randomElement(using: &random) ?? "0")
    case 4: return .instant(Int.random(in: 0..<Self.instants.count, using: &random))
    default: return .text(Int.random(in: 0..<Self.texts.count, using: &random))
    }
  }

  mutating func filter(depth: Int) -> Filter {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &random) {
    case 5: return .not(filter(depth: depth - 1))
    case 6: return .and([filter(depth: depth - 1), filter(depth: depth - 1)])
    case 7: return .or([filter(depth: depth - 1), filter(depth: depth - 1)])
    default: return .comparison(comparison())
    }
  }

  private mutating func comparison() -> Filter.Comparison {
    let column = Int.random(in: 0..<6, using: &random)
    let isText = column == 0 || column == 5
    let name = Filter.Operand.name(Self.entity.attributes[column].name)
    var relations: [Filter.Comparison.Relation] = [
      .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo,
      .between, .in,
    ]
    if isText { relations += [.contains, .beginsWith, .endsWith] }
    let relation = relations.randomElement(using: &random) ?? .equalTo
    let options = Filter.Comparison.Options(
      rawValue: isText ? Int.random(in: 0...3, using: &random) : 0
    )
    let right: Filter.Operand
    switch relation {
    case .between:
      right = .list((0..<2).map { _ in .value(cell(column, nullable: false).literal) })
    case .in:
      let count = Int.random(in: 0...4, using: &random)
      right = .list((0..<count).map { _ in .value(cell(column, nullable: true).literal) })
    case .equalTo, .notEqualTo:
      if isText, Int.random(in: 0..<4, using: &random) == 0 {
        return Filter.Comparison(.name("s"), relation, .name("u"), options: options)
      }
      right = .value(cell(column, nullable: true).literal)
    default:
      right = .value(cell(column, nullable: false).literal)
    }
    return Filter.Comparison(name, relation, right, options: options)
  }
}

// MARK: The naive evaluation

/// What a cell or literal is compared by.
private enum Meaning {
  case null
  case bytes([UInt8])
  case number(Decimal)
  case real(Double)
  case instant(Int)

  func order(_ other: Meaning) -> Int? {
    switch (self, other) {
    case (.bytes(let a), .bytes(let b)):
      a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    case (.number(let a), .number(let b)): a == b ? 0 : a < b ? -1 : 1
    case (.real(let a), .real(let b)): a == b ? 0 : a < b ? -1 : 1
    case (.instant(let a), .instant(let b)): a == b ? 0 : a < b ? -1 : 1
    default: nil
    }
  }

  func equals(_ other: Meaning) -> Bool {
    if case .null = self, case .null = other { return true }
    return order(other) == 0
  }
}

private func meaning(_ cell: Cell, _ options: Filter.Comparison.Options) -> Meaning {
  switch cell {
  case .null: .null
  case .text(let index): .bytes(folded(Sample.texts[index], options))
  case .integer(let value): .number(Decimal(value))
  case .real(let value): .real(value)
  case .decimal(let digits): Decimal(string: digits).map(Meaning.number) ?? .null
  case .instant(let index): .instant(index)
  }
}

private func folded(
  _ text: (plain: String, c: String, d: String, cd: String),
  _ options: Filter.Comparison.Options
) -> [UInt8] {
  switch options.rawValue {
  case 1: Array(text.c.utf8)
  case 2: Array(text.d.utf8)
  case 3: Array(text.cd.utf8)
  default: Array(text.plain.utf8)
  }
}

private func meaning(
  _ value: FilterValue,
  _ column: Int,
  _ options: Filter.Comparison.Options
) -> Meaning {
  switch value {
  case .null, .boolean, .data, .objectID, .moment: return .null
  case .number(let digits):
    if column == 2 { return Double(digits).map(Meaning.real) ?? .null }
    return Decimal(string: digits).map(Meaning.number) ?? .null
  case .string(let text):
    if column == 4 {
      return Sample.instants.firstIndex { $0.literal == text }.map(Meaning.instant) ?? .null
    }
    return Sample.texts.first { $0.plain.utf8.elementsEqual(text.utf8) }
      .map { .bytes(folded($0, options)) } ?? .null
  }
}

private func holds(_ filter: Filter, _ row: [Cell]) -> Bool {
  switch filter {
  case .constant(let value): value
  case .and(let parts): parts.allSatisfy { holds($0, row) }
  case .or(let parts): parts.contains { holds($0, row) }
  case .not(let part): !holds(part, row)
  case .comparison(let comparison): holds(comparison, row)
  }
}

private func holds(_ comparison: Filter.Comparison, _ row: [Cell]) -> Bool {
  func column(_ operand: Filter.Operand) -> Int? {
    guard case .path(let path) = operand else { return nil }
    return Sample.entity.attributes.firstIndex { $0.name == path.text }
  }
  guard let place = column(comparison.left) else { return false }
  let options = comparison.options
  let left = meaning(row[place], options)
  func right(_ operand: Filter.Operand) -> Meaning {
    if let other = column(operand) { return meaning(row[other], options) }
    if case .value(let value) = operand { return meaning(value, place, options) }
    return .null
  }
  var elements: [Meaning] = []
  if case .list(let list) = comparison.right { elements = list.map(right) }
  let value = right(comparison.right)
  switch comparison.relation {
  case .equalTo: return left.equals(value)
  case .notEqualTo: return !left.equals(value)
  case .lessThan: return left.order(value).map { $0 < 0 } ?? false
  case .lessThanOrEqualTo: return left.order(value).map { $0 <= 0 } ?? false
  case .greaterThan: return left.order(value).map { $0 > 0 } ?? false
  case .greaterThanOrEqualTo: return left.order(value).map { $0 >= 0 } ?? false
  case .between:
    guard let low = left.order(elements[0]), let high = left.order(elements[1]) else {
      return false
    }
    return low >= 0 && high <= 0
  case .in: return elements.contains { left.equals($0) }
  default:
    guard case .bytes(let text) = left, case .bytes(let part) = value else { return false }
    switch comparison.relation {
    case .beginsWith: return text.starts(with: part)
    case .endsWith: return text.reversed().starts(with: part.reversed())
    default:
      return (0...text.count).contains { text[$0...].starts(with: part) }
    }
  }
}

// MARK: The text of a filter

private func text(_ filter: Filter) -> String {
  switch filter {
  case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
  case .and(let parts): "(" + parts.map { "(\(text($0)))" }.joined(separator: " AND ") + ")"
  case .or(let parts): "(" + parts.map { "(\(text($0)))" }.joined(separator: " || ") + ")"
  case .not(let part): "NOT (\(text(part)))"
  case .comparison(let comparison):
    "\(text(comparison.left)) \(comparison.relation.rawValue)"
      + ["", "[c]", "[d]", "[cd]"][comparison.options.rawValue] + " \(text(comparison.right))"
  }
}

private func text(_ operand: Filter.Operand) -> String {
  switch operand {
  case .path(let path): path.text
  case .variable(let name): "$" + name
  case .list(let elements): "{" + elements.map(text).joined(separator: ", ") + "}"
  case .value(.null), .value(.data), .value(.objectID), .value(.moment), .subquery: "nil"
  case .value(.boolean(let value)): value ? "TRUE" : "FALSE"
  case .value(.number(let digits)): digits
  case .value(.string(let text)): "'" + text.replacing("\u{0}", with: "\\u0000") + "'"
  }
}

import Foundation
import GRDB

@testable import Dragoman
@testable import DragomanGraph

/// A small generator of pseudo-random numbers (SplitMix64): the same seed, the same test.
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
  mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }
  mutating func pick<T>(_ choices: [T]) -> T { choices[number(0...choices.count - 1)] }
}

/// A random map of one entity, and random objects of it as the store holds them.
struct RandomExport {
  var map: ImportMap
  var rows: [[StoredValue]] = []
  private var dice: Dice

  /// Makes a map of up to ten attributes, and objects whose values each type can have.
  init(seed: UInt64) throws {
    dice = Dice(seed: seed)
    var dice = dice
    var defaults = ImportMap.Defaults()
    if dice.chance(0.3) { defaults.timeZone = dice.pick(["Europe/Oslo", "Asia/Kolkata", "UTC"]) }
    if dice.chance(0.2) {
      defaults.strings = StringFormat(trim: dice.chance(0.5), emptyAsNull: dice.chance(0.5))
    }
    if dice.chance(0.2) { defaults.numbers = NumberFormat(decimal: ",", group: ".") }
    let isDefaultNamespace = dice.chance(0.3)
    let namespaces = isDefaultNamespace ? ["": "urn:d", "c": "urn:c"] : ["c": "urn:c"]
    var attributes = [
      AttributeMap(
        name: "id",
        from: try Self.paths("id", "@id", namespaces),
        type: dice.pick([.int64, .string, .uuid])
      )
    ]
    for index in 0..<dice.number(1...9) {
      attributes.append(try Self.attribute(index, namespaces, &dice))
    }
    let records = ForeignPathParser(format: .xml, namespaces: namespaces, leadsToRecords: true)
    map = ImportMap(
      defaults: defaults,
      entities: [EntityMap(name: "P", uniqueKeys: [["id"]], attributes: attributes)],
      sources: [
        SourceMap(
          name: "json",
          format: .json,
          entity: "P",
          records: dice.chance(0.5)
            ? try ForeignPathParser(format: .json, leadsToRecords: true).parse("data.list") : nil
        ),
        SourceMap(
          name: "xml",
          format: .xml,
          entity: "P",
          records: try records.parse(dice.pick(["/r/p", "/c:r/c:list/c:p"])),
          namespaces: namespaces
        ),
        SourceMap(name: "csv", format: .csv, entity: "P", separator: dice.pick([nil, ";"])),
      ],
      exportOptions: ImportMap.ExportOptions(
        style: ExportStyle(
          shape: dice.pick([.nested, .flat, nil]),
          nulls: dice.pick([.omit, .write, nil])
        )
      )
    )
    var keys: Set<StoredValue> = []
    for _ in 0..<dice.number(0...12) {
      let row = attributes.map { attribute in
        attribute.name != "id" && dice.chance(0.25) ? .null : Self.value(attribute, &dice)
      }
      if keys.insert(row[0]).inserted { rows.append(row) }
    }
    self.dice = dice
  }

  private static func paths(
    _ json: String,
    _ xml: String,
    _ namespaces: [String: String]
  ) throws -> ForeignPaths {
    ForeignPaths(
      json: [try ForeignPathParser(format: .json).parse(json)],
      xml: [try ForeignPathParser(format: .xml, namespaces: namespaces).parse(xml)],
      csv: [try ForeignPathParser(format: .csv).parse("col.\(json)")]
    )
  }

  private static func attribute(
    _ index: Int,
    _ namespaces: [String: String],
    _ dice: inout Dice
  ) throws -> AttributeMap {
    let name = "a\(index)"
    let json = dice.pick([name, "o.\(name)", "o.deep.\(name)", "list[\(index)]", "/p/\(name).x"])
    let xml = dice.pick([
      name, "@\(name)", "o/\(name)", "c:o/@\(name)", "c:\(name)", "o/c:\(name)/text()",
    ])
    var attribute = AttributeMap(
      name: name,
      from: dice.chance(0.2) ? nil : try paths(json, xml, namespaces),
      type: dice.pick(AttributeType.allCases)
    )
    switch attribute.type {
    case .timestamp where dice.chance(0.6):
      attribute.format.dates = dice.pick([
        ["unix-us"], ["unix", "iso8601"], ["dd.MM.yyyy HH:mm", "iso8601"],
        ["rfc2822", "unix-ms", "iso8601"],
        ["yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"],
      ])
    case .date where dice.chance(0.6):
      attribute.format.dates = dice.pick([
        ["dd.MM.yyyy"], ["d/M/yy", "iso8601-date"], ["unix", "iso8601-date"],
      ])
    case .time where dice.chance(0.5):
      attribute.format.dates = dice.pick([
        ["HH:mm", "HH:mm:ss.SSSSSS"], ["h:mm:ss a", "HH:mm:ss.SSSSSS"],
      ])
    case .enum:
      attribute.format.values = [
        .init(foreign: "A", local: "alpha"), .init(foreign: "a", local: "alpha"),
        .init(foreign: "B", local: "beta"),
      ]
      if dice.chance(0.5) { attribute.format.unknown = dice.pick(["other", "beta"]) }
    case .bool where dice.chance(0.5):
      attribute.format.trueValues = ["Y", "1"]
      attribute.format.falseValues = ["N"]
    case .int16, .int32, .int64, .double, .float, .decimal:
      if dice.chance(0.4) {
        attribute.format.numbers = dice.pick([
          NumberFormat(decimal: ",", group: "."), NumberFormat(locale: "en_IN"),
          NumberFormat(locale: "fr_FR"), NumberFormat(decimal: ".", style: .percent),
          NumberFormat(locale: "de_DE", style: .accounting),
        ])
      }
      if attribute.type == .decimal, dice.chance(0.3) { attribute.rules.scale = 2 }
    case .string where dice.chance(0.3):
      attribute.format.strings = StringFormat(
        trim: dice.pick([true, false, nil]),
        emptyAsNull: dice.pick([true, false, nil]),
        nulls: dice.pick([["NA"], nil])
      )
    default: break
    }
    if dice.chance(0.15) {
      attribute.policies.onMissing = dice.pick([.clear, .keep, .default])
      if let literal = literal(attribute.type) { attribute.defaultValue = literal }
    }
    return attribute
  }

  private static func literal(_ type: AttributeType) -> String? {
    switch type {
    case .string: "none"
    case .int16, .int32, .int64, .double, .float, .decimal: "7"
    case .bool: "true"
    case .date: "2001-02-03"
    default: nil
    }
  }

  // MARK: - Values

  private static func value(_ attribute: AttributeMap, _ dice: inout Dice) -> StoredValue {
    switch attribute.type {
    // Tests find a record by its key in messages.
    case .string where attribute.name == "id": .text("ké-\(dice.number(1...1_000_000))")
    case .string: .text(text(&dice))
    case .int16: .integer(Int64(dice.pick([Int16.min, -1, 0, 7, 12_345, .max])))
    case .int32: .integer(Int64(dice.pick([Int32.min, -1, 0, 1_234_567, .max])))
    case .int64:
      .integer(
        dice.chance(0.5)
          ? Int64.random(in: .min ... .max, using: &dice) : dice.pick([.min, 0, .max])
      )
    case .double: .real(double(&dice))
    case .float:
      .real(Double(Float(bitPattern: UInt32.random(in: 0..<0x7F80_0000, using: &dice))))
    case .decimal: .text(decimal(attribute.rules.scale, &dice))
    case .bool: .integer(Int64(dice.number(0...1)))
    case .timestamp: .text("\(date(&dice)) \(time(&dice))")
    case .date: .text(date(&dice))
    case .time: .text(time(&dice))
    case .duration: .text(dice.pick(["PT0S", "-P1Y2M", "P3DT0.000001S", "PT36H"]))
    case .uuid: .text(uuid(&dice))
    case .url:
      .text(
        dice.pick([
          "https://example.org/a?b=1&c=<2>".replacing("<2>", with: "2"), "mailto:a@b.c", "urn:x:ø",
        ])
      )
    case .data:
      .blob((0..<dice.number(0...20)).map { _ in UInt8.random(in: 0 ... .max, using: &dice) })
    case .json:
      .text(
        dice.pick([
          #""text""#, #"{"@id":"1","name":"Ada","tel":["1","2"]}"#, #"["a","b"]"#, "5", "[1,2]",
          #"{"a":{"b":null,"c":"<&>"},"text()":"x y"}"#, "true", #"{"n":1.50}"#, "[]", #""""#,
        ])
      )
    case .enum: .text(dice.pick(["alpha", "beta"] + (attribute.format.unknown.map { [$0] } ?? [])))
    }
  }

  /// A text of letters, signs and what needs escapes; control characters in one of seven.
  static func text(_ dice: inout Dice) -> String {
    let pieces = [
      "a", "é", "e\u{301}", "日本", "👩‍👩‍👧", "\"", "\\", "<", "&", ">", "]]>", "'", "\t", "\n", "\r\n",
      " ", ",", ";",
      "\u{0}", "\u{1}", "\u{7F}", "\u{FFFE}", "\u{2028}", "NA", "\u{10FFFF}", "plain words", "x",
      "{[",
    ]
    let isNasty = dice.chance(0.15)
    return (0..<dice.number(0...6)).map { _ in
      let piece = dice.pick(pieces)
      return !isNasty && piece.unicodeScalars.contains { $0.value < 9 || $0.value == 0xFFFE }
        ? "y" : piece
    }.joined()
  }

  private static func double(_ dice: inout Dice) -> Double {
    switch dice.number(0...4) {
    case 0:
      return dice.pick([
        0, 1, -1.5, 0.1, 1e21, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 123_456.789,
      ])
    case 1: return Double(dice.number(-1_000_000...1_000_000)) / 1000
    default:
      let value = Double(bitPattern: UInt64.random(in: 0 ... .max, using: &dice))
      return value.isFinite ? value : 2.5
    }
  }

  private static func decimal(_ scale: Int?, _ dice: inout Dice) -> String {
    let whole =
      dice.chance(0.3) ? "0" : "\(dice.number(1...9))" + digits(dice.number(0...25), &dice)
    var fraction = digits(scale ?? dice.number(0...12), &dice)
    if scale == nil { while fraction.hasSuffix("0") { fraction.removeLast() } }
    let isZero = (whole + fraction).allSatisfy { $0 == "0" }
    return (dice.chance(0.3) && !isZero ? "-" : "") + whole
      + (fraction.isEmpty ? "" : ".\(fraction)")
  }

  private static func digits(_ count: Int, _ dice: inout Dice) -> String {
    (0..<count).map { _ in "\(dice.number(0...9))" }.joined()
  }

  private static func date(_ dice: inout Dice) -> String {
    let year = dice.chance(0.7) ? dice.number(1950...2040) : dice.pick([0, 1, 1582, 1900, 9999])
    return "\(padded(year, 4))-\(padded(dice.number(1...12), 2))-\(padded(dice.number(1...28), 2))"
  }

  private static func time(_ dice: inout Dice) -> String {
    let seconds = dice.chance(0.5) ? "00" : padded(dice.number(0...59), 2)
    let fraction = dice.pick(["", "", "", ".5", ".000001", ".123456"])
    return
      "\(padded(dice.number(0...23), 2)):\(padded(dice.number(0...59), 2)):\(seconds)\(fraction)"
  }

  private static func uuid(_ dice: inout Dice) -> String {
    [8, 4, 4, 4, 12].map { count in
      (0..<count).map { _ in String(dice.number(0...15), radix: 16) }.joined()
    }.joined(separator: "-")
  }

  // MARK: - The store

  /// A store in memory that holds the rows.
  func store() throws -> SQLiteStore {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: map.model())
    try store.write { session in
      try session.begin()
      for (index, row) in rows.enumerated() {
        let marks = Array(repeating: "?", count: row.count + 2).joined(separator: ",")
        let names = ["_pk", "_v"] + map.entities[0].attributes.map(\.name)
        let statement = try session.database.makeStatement(
          sql: "INSERT INTO P (\(names.joined(separator: ","))) VALUES (\(marks))"
        )
        let values = [.integer(Int64(index + 1)), .integer(1)] + row
        try statement.execute(arguments: StatementArguments(values.map(\.databaseValue)))
      }
      try session.commit()
    }
    return store
  }
}

extension StoredValue {
  fileprivate var databaseValue: DatabaseValue {
    switch self {
    case .null: .null
    case .integer(let value): value.databaseValue
    case .real(let value): value.databaseValue
    case .text(let value): value.databaseValue
    case .blob(let value): Data(value).databaseValue
    }
  }
}

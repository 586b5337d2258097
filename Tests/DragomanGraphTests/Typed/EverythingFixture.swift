import Foundation

@testable import DragomanGraph

enum Kind: String, AttributeValue, CaseIterable {
  case pickup
  case sedan
}

enum Level: Int16, AttributeValue {
  case low = 1
  case high = 2
}

struct Address: CodableValue, Hashable {
  var street: String
  var city: String?
}

struct Color: Sendable, Hashable {
  var red: UInt8
  var green: UInt8
}

struct UnknownColor: Error {}

enum ColorText: ValueTransform {
  static func stored(_ color: Color) -> String { "\(color.red)/\(color.green)" }
  static func value(_ text: String) throws -> Color {
    let parts = text.split(separator: "/").compactMap { UInt8($0) }
    guard parts.count == 2 else { throw UnknownColor() }
    return Color(red: parts[0], green: parts[1])
  }
}

/// A property of every type: more than twenty.
struct Everything: PersistentValue, Hashable {
  var objectID: ObjectID?
  var key: Int
  var flag: Bool = false
  var int8: Int8 = 0
  var int16: Int16 = 0
  var int32: Int32 = 0
  var int64: Int64 = 0
  var uint8: UInt8 = 0
  var uint16: UInt16 = 0
  var uint32: UInt32 = 0
  var uint64: UInt64 = 0
  var uint: UInt = 0
  var float: Float = 0
  var double: Double = 0
  var decimal: Decimal = 0
  var instant = Date(timeIntervalSince1970: 0)
  var day = Date(timeIntervalSince1970: 0)
  var data = Data()
  var bytes: [UInt8] = []
  var uuid = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
  var lasts: CalendarDuration?
  var took = Duration.zero
  var url = URL(fileURLWithPath: "/")
  var text = ""
  var kind = Kind.pickup
  var level = Level.low
  var maybe: Int?
  var maybeKind: Kind?
  var words: [String] = []
  var numbers: Set<Int> = []
  var prices: [Decimal] = []
  var holes: [Double?] = []
  var address: Address?
  var color = Color(red: 0, green: 0)
  var maybeColor: Color?
  var foreign = JSON(["a": 1])
  /// Not stored.
  var transient = "default"

  struct Fields: Sendable {
    let key = Field(0, "key", \Everything.key, isUnique: true)
    let flag = Field(1, "flag", \Everything.flag)
    let int8 = Field(2, "int8", \Everything.int8)
    let int16 = Field(3, "int16", \Everything.int16)
    let int32 = Field(4, "int32", \Everything.int32)
    let int64 = Field(5, "int64", \Everything.int64)
    let uint8 = Field(6, "uint8", \Everything.uint8)
    let uint16 = Field(7, "uint16", \Everything.uint16)
    let uint32 = Field(8, "uint32", \Everything.uint32)
    let uint64 = Field(9, "uint64", \Everything.uint64)
    let uint = Field(10, "uint", \Everything.uint)
    let float = Field(11, "float", \Everything.float)
    let double = Field(12, "double", \Everything.double)
    let decimal = Field(13, "decimal", \Everything.decimal)
    let instant = Field(14, "instant", \Everything.instant)
    let day = Field(15, "day", \Everything.day) { $0.type = .date }
    let data = Field(16, "data", \Everything.data)
    let bytes = Field(17, "bytes", \Everything.bytes)
    let uuid = Field(18, "uuid", \Everything.uuid)
    let url = Field(19, "url", \Everything.url)
    let text = Field(20, "text", \Everything.text)
    let kind = Field(21, "kind", \Everything.kind)
    let level = Field(22, "level", \Everything.level)
    let maybe = Field(23, "maybe", \Everything.maybe)
    let maybeKind = Field(24, "maybeKind", \Everything.maybeKind)
    let words = Field(25, "words", \Everything.words)
    let numbers = Field(26, "numbers", \Everything.numbers)
    let prices = Field(27, "prices", \Everything.prices)
    let holes = Field(28, "holes", \Everything.holes)
    let address = Field(29, "address", \Everything.address)
    let color = Field(30, "color", \Everything.color, by: ColorText.self)
    let maybeColor = Field(31, "maybeColor", \Everything.maybeColor, by: ColorText.self)
    let foreign = Field(32, "foreign", \Everything.foreign)
    let lasts = Field(33, "lasts", \Everything.lasts)
    let took = Field(34, "took", \Everything.took)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Everything>(
    "Everything",
    [
      fields.key, fields.flag, fields.int8, fields.int16, fields.int32, fields.int64, fields.uint8,
      fields.uint16, fields.uint32, fields.uint64, fields.uint, fields.float, fields.double,
      fields.decimal, fields.instant, fields.day, fields.data, fields.bytes, fields.uuid,
      fields.url, fields.text, fields.kind, fields.level, fields.maybe, fields.maybeKind,
      fields.words, fields.numbers, fields.prices, fields.holes, fields.address, fields.color,
      fields.maybeColor, fields.foreign, fields.lasts, fields.took,
    ]
  )

  init(_ key: Int) { self.key = key }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    key = try row[Self.fields.key]
    flag = try row[Self.fields.flag]
    int8 = try row[Self.fields.int8]
    int16 = try row[Self.fields.int16]
    int32 = try row[Self.fields.int32]
    int64 = try row[Self.fields.int64]
    uint8 = try row[Self.fields.uint8]
    uint16 = try row[Self.fields.uint16]
    uint32 = try row[Self.fields.uint32]
    uint64 = try row[Self.fields.uint64]
    uint = try row[Self.fields.uint]
    float = try row[Self.fields.float]
    double = try row[Self.fields.double]
    decimal = try row[Self.fields.decimal]
    instant = try row[Self.fields.instant]
    day = try row[Self.fields.day]
    data = try row[Self.fields.data]
    bytes = try row[Self.fields.bytes]
    uuid = try row[Self.fields.uuid]
    url = try row[Self.fields.url]
    text = try row[Self.fields.text]
    kind = try row[Self.fields.kind]
    level = try row[Self.fields.level]
    maybe = try row[Self.fields.maybe]
    maybeKind = try row[Self.fields.maybeKind]
    words = try row[Self.fields.words]
    numbers = try row[Self.fields.numbers]
    prices = try row[Self.fields.prices]
    holes = try row[Self.fields.holes]
    address = try row[Self.fields.address]
    color = try row[Self.fields.color]
    maybeColor = try row[Self.fields.maybeColor]
    foreign = try row[Self.fields.foreign]
    lasts = try row[Self.fields.lasts]
    took = try row[Self.fields.took]
  }

  /// As a macro would write it: by slot, and not through key paths.
  mutating func box(into row: inout BoxingRow) throws {
    try row.set(Self.fields.key, &key)
    try row.set(Self.fields.flag, &flag)
    try row.set(Self.fields.int8, &int8)
    try row.set(Self.fields.int16, &int16)
    try row.set(Self.fields.int32, &int32)
    try row.set(Self.fields.int64, &int64)
    try row.set(Self.fields.uint8, &uint8)
    try row.set(Self.fields.uint16, &uint16)
    try row.set(Self.fields.uint32, &uint32)
    try row.set(Self.fields.uint64, &uint64)
    try row.set(Self.fields.uint, &uint)
    try row.set(Self.fields.float, &float)
    try row.set(Self.fields.double, &double)
    try row.set(Self.fields.decimal, &decimal)
    try row.set(Self.fields.instant, &instant)
    try row.set(Self.fields.day, &day)
    try row.set(Self.fields.data, &data)
    try row.set(Self.fields.bytes, &bytes)
    try row.set(Self.fields.uuid, &uuid)
    try row.set(Self.fields.url, &url)
    try row.set(Self.fields.text, &text)
    try row.set(Self.fields.kind, &kind)
    try row.set(Self.fields.level, &level)
    try row.set(Self.fields.maybe, &maybe)
    try row.set(Self.fields.maybeKind, &maybeKind)
    try row.set(Self.fields.words, &words)
    try row.set(Self.fields.numbers, &numbers)
    try row.set(Self.fields.prices, &prices)
    try row.set(Self.fields.holes, &holes)
    try row.set(Self.fields.address, &address)
    try row.set(Self.fields.color, &color)
    try row.set(Self.fields.maybeColor, &maybeColor)
    try row.set(Self.fields.foreign, &foreign)
    try row.set(Self.fields.lasts, &lasts)
    try row.set(Self.fields.took, &took)
  }
}

let everythingModel = Model(Everything.self)

/// The types of columns on a server, each of which holds all that an attribute admits.
enum ServerType: String {
  case smallint
  case integer
  case bigint
  case real = "double precision"
  case boolean
  case numeric
  case text
  case timestamp = "timestamptz"
  case date
  case time
  case uuid
  case bytes = "bytea"
  /// Not `jsonb`: the text comes back as it was.
  case json

  /// The type of an attribute's column.
  init(_ type: AttributeType) {
    self =
      switch type {
      case .string, .duration, .url, .enum: .text
      case .int16: .smallint
      case .int32: .integer
      case .int64: .bigint
      case .double, .float: .real
      case .decimal: .numeric
      case .bool: .boolean
      case .timestamp: .timestamp
      case .date: .date
      case .time: .time
      case .uuid: .uuid
      case .data: .bytes
      case .json: .json
      }
  }

  /// The type of a column; links and places in lists are keys and numbers.
  init(_ column: TableLayout.Column) {
    self = column.attribute.map { ServerType($0.type) } ?? .bigint
  }

  /// The type as the server's catalog names it (`format_type`).
  var catalogName: String {
    switch self {
    case .timestamp: "timestamp with time zone"
    case .time: "time without time zone"
    default: rawValue
    }
  }

  /// The type as `CREATE TABLE` takes it: texts compare by their bytes, as in a file.
  var declaration: String { self == .text ? "text COLLATE \"C\"" : rawValue }

  /// A value that is not null, as the server reads it.
  ///
  /// - Throws: `StoreError`, `.badRequest`, for a text with U+0000 and a decimal of too many digits, which PostgreSQL
  ///   cannot hold.
  func bytes(_ value: StoredValue) throws(StoreError) -> [UInt8] {
    switch value {
    case .null: return []
    case .integer(let integer): return Array(String(integer).utf8)
    case .real(let real): return Array(real.withoutNegativeZero.description.utf8)
    case .blob(let bytes):
      let digits = Array("0123456789abcdef".utf8)
      var text = Array("\\x".utf8)
      text.reserveCapacity(2 + 2 * bytes.count)
      for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
      }
      return text
    case .text(let text):
      guard !text.utf8.contains(0) else { throw ServerArray.nul }
      if self == .numeric, text.utf8.count > DecimalText.serverFractionCount,
        !DecimalText.fitsServer(text.utf8)
      {
        throw ServerArray.digits
      }
      // The year 0 of ISO 8601 is the year 1 before Christ.
      if self == .timestamp || self == .date, text.utf8.starts(with: "0000-".utf8) {
        return Array("0001\(text.dropFirst(4)) BC".utf8)
      }
      return Array(text.utf8)
    }
  }
}

/// The values of a column for many rows, as one parameter: `$1::text[]`.
struct ServerArray {
  let type: ServerType
  private var bytes = [UInt8(ascii: "{")]

  init(_ type: ServerType) { self.type = type }

  /// What PostgreSQL cannot hold.
  static let nul = StoreError(
    .badRequest,
    "A text holds U+0000, which PostgreSQL cannot hold.",
    help: "take the character out of the feed, or out of the value"
  )

  /// The same of a decimal.
  static let digits = StoreError(
    .badRequest,
    "A decimal has more digits than PostgreSQL can hold: 131,072 in front of the point, 16,383 behind it.",
    help: "round it, or make the attribute a string"
  )

  /// Adds the value of the next row.
  ///
  /// - Throws: as `ServerType.bytes`.
  mutating func append(_ value: StoredValue) throws(StoreError) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    switch value {
    case .null: bytes += "NULL".utf8
    case .integer, .real: bytes += try type.bytes(value)
    case .text, .blob:
      bytes.append(UInt8(ascii: "\""))
      for byte in try type.bytes(value) {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
          bytes.append(UInt8(ascii: "\\"))
        }
        bytes.append(byte)
      }
      bytes.append(UInt8(ascii: "\""))
    }
  }

  mutating func append(_ integer: Int64) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes += String(integer).utf8
  }

  /// The whole list.
  var parameter: ServerParameter { ServerParameter(bytes: bytes + [UInt8(ascii: "}")]) }

  /// `$3::text[]`.
  func placeholder(_ number: Int) -> String { "$\(number)::\(type.rawValue)[]" }
}

extension [ServerArray] {
  /// The rows that the lists are the columns of: `unnest($1::bigint[], $2::text[])`.
  var unnested: String {
    "unnest(\(enumerated().map { $1.placeholder($0 + 1) }.joined(separator: ", ")))"
  }

  /// What such a statement gets.
  var parameters: [ServerParameter] { map(\.parameter) }
}

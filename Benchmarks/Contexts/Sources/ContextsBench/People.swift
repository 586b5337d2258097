import Dragoman
import DragomanGraph

/// The people of yardstick/generate_people.py as a program sees them.
struct People {
  /// The map file, which has the model.
  let map: String
  /// How many objects to work with.
  let count: Int

  init(_ words: [String]) {
    map = words[1]
    count = Int(words[3]) ?? 100_000
  }

  static let attributes = [
    "ticketNumber", "firstName", "lastName", "socialSecurityNumber", "salary", "dateOfBirth",
    "active", "score", "visits", "city", "zip",
  ]

  /// The same conversions as people.map.yaml, in code.
  static func mapper(in model: Model) throws -> Mapper {
    try Mapper(for: "Person", in: model, uniqueKey: ["ticketNumber"]) {
      Map("ticket_number", to: "ticketNumber")
      Map("first_name", to: "firstName")
      Map("last_name", to: "lastName")
      Map("ss_num", to: "socialSecurityNumber")
      Map("salary", to: "salary", numbers: NumberFormat(decimal: ".", group: ","))
      Map("dob", to: "dateOfBirth", dates: ["iso8601"], format: ValueFormat(timeZone: "UTC"))
      Map("active", to: "active")
      Map("score", to: "score")
      Map("visits", to: "visits")
      Map("address.city", to: "city")
      Map("address.zip", to: "zip")
    }
  }

  /// Reads every page of the table into the connection's cache, and makes no objects.
  func warmUp(_ stack: Stack) async throws {
    let filter = try Filter(parsing: "zip == '-'")
    for _ in 0..<2 {
      _ = try await stack.read { try $0.count(FetchRequest("Person", filter: filter)) }
    }
  }
}

extension StoredValue {
  /// Something of every value, so that reading it cannot be left out.
  var weight: Int {
    switch self {
    case .null: 0
    case .integer(let integer): Int(truncatingIfNeeded: integer)
    case .real(let real): Int(real)
    case .text(let text): text.utf8.count &+ Int(text.utf8.first ?? 0)
    case .blob(let bytes): bytes.count
    }
  }
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension [Double] {
  var median: Double {
    let ordered = sorted()
    return ordered.isEmpty ? 0 : ordered[ordered.count / 2]
  }
}

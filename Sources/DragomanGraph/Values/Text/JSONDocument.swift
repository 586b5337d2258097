import Foundation

/// Documents of JSON whose members have an order that is always the same.
package enum JSONDocument {
  /// A value as JSON: members by their names, slashes as they are, on one line unless it is to be read by people.
  ///
  /// - Throws: What `JSONEncoder` throws, as for a number that JSON does not have.
  package static func text(_ value: some Encodable, isPretty: Bool = false) throws -> String {
    String(decoding: try bytes(value, isPretty: isPretty), as: UTF8.self)
  }

  /// The same as UTF-8.
  package static func bytes(_ value: some Encodable, isPretty: Bool = false) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    return Array(try encoder.encode(value))
  }
}

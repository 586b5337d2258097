import DragomanGraph
import Foundation

/// The fields of a form that was sent, and the file with it.
///
/// Reads `application/x-www-form-urlencoded` and `multipart/form-data` (RFC 7578).
struct ConsoleForm {
  /// A file that was chosen.
  struct File {
    let name: String
    let bytes: Data
  }

  private(set) var fields: [(name: String, value: String)] = []
  private(set) var file: File?

  /// - Throws: `ConsoleError` for a body that is no form.
  init(_ request: ConsoleRequest) throws(ConsoleError) {
    let type = request.headers["content-type"] ?? ""
    if type.lowercased().hasPrefix("multipart/form-data") {
      try readParts(of: request.body, type)
    } else if type.lowercased().hasPrefix("application/x-www-form-urlencoded") {
      fields = WebText.pairs(String(decoding: request.body, as: UTF8.self))
    } else {
      throw ConsoleError(415, "This is no form.", help: "send it with the page's own form")
    }
  }

  /// The value of a field; empty where there is none.
  subscript(name: String) -> String { fields.first { $0.name == name }?.value ?? "" }

  private mutating func readParts(of body: Data, _ type: String) throws(ConsoleError) {
    guard let boundary = Self.parameter("boundary", of: type), !boundary.isEmpty else {
      throw ConsoleError(
        400,
        "The form names no boundary of its parts (the `boundary` of its Content-Type)."
      )
    }
    let mark = Data("--\(boundary)".utf8)
    guard var place = body.range(of: mark)?.upperBound else {
      throw ConsoleError(400, "The form has no parts.")
    }
    while let end = body.range(of: Data("\r\n".utf8) + mark, in: place..<body.endIndex) {
      let part = body[place..<end.lowerBound]
      place = end.upperBound
      guard let head = part.range(of: Data("\r\n\r\n".utf8)) else { continue }
      add(
        head: String(decoding: part[part.startIndex..<head.lowerBound], as: UTF8.self),
        part[head.upperBound...]
      )
    }
  }

  private mutating func add(head: String, _ content: Data) {
    // Byte by byte: CR LF is one character to Swift.
    for line in head.replacing("\r\n", with: "\n").split(separator: "\n")
    where line.lowercased().hasPrefix("content-disposition:") {
      let name = Self.parameter("name", of: String(line)) ?? ""
      if let fileName = Self.parameter("filename", of: String(line)) {
        if !fileName.isEmpty { file = File(name: fileName, bytes: content) }
      } else {
        fields.append((name, String(decoding: content, as: UTF8.self)))
      }
    }
  }

  /// A parameter of a header field; browsers write `"` in names as `%22`.
  private static func parameter(_ name: String, of field: String) -> String? {
    var isQuoted = false
    let parts = field.unicodeScalars.split { scalar in
      if scalar == "\"" { isQuoted.toggle() }
      return scalar == ";" && !isQuoted
    }
    for part in parts.dropFirst() {
      let sides = String(part).parts(at: "=", maxSplits: 1)
      guard sides.count == 2, sides[0].trimmingCharacters(in: .whitespaces).lowercased() == name
      else { continue }
      let value = sides[1].trimmingCharacters(in: .whitespaces).unicodeScalars
      guard value.first == "\"", value.last == "\"", value.count >= 2 else { return String(value) }
      return String(
        value.dropFirst().dropLast().replacing("%22".unicodeScalars, with: "\"".unicodeScalars)
      )
    }
    return nil
  }
}

import Dragoman
import DragomanGraph
import Foundation

/// One rejected record: what is wrong, where, and a form to mend it.
struct RejectPage {
  private struct Choice {
    let number: String
    let name: String
    let isChosen: Bool
  }

  private struct View {
    let code: String
    let message: String
    let help: String?
    let subject: String
    let place: String
    let path: String?
    let before: String
    let marked: String?
    let behind: String
    let record: String
    let canRetry: Bool
    let why: String
    let address: String
    let csrf: String
    let mark: String
    let maps: [Choice]
    let notice: String?
  }

  private static let retrying = NSLock()

  /// - Parameters:
  ///   - file: The rejects file's number.
  ///   - number: The line.
  ///   - sources: What the page reads.
  ///   - record: What stands in the form; nil: the record.
  ///   - again: Why what was typed was rejected, in place of what the file says of the line.
  ///   - notice: What is told above.
  /// - Returns: The page.
  /// - Throws: `ConsoleError`, 404, where the line is gone.
  static func answer(
    _ file: String,
    _ number: String,
    _ sources: PageSources,
    record: String? = nil,
    again: RejectLine? = nil,
    notice: String? = nil
  ) throws -> PageAnswer {
    let item = try sources.rejects.item(file)
    let line = try RejectShelf.line(number, of: item.path)
    let reject = again ?? line.reject
    let own = try reject.record()
    let shown = reject.isSourceText ? own : pretty(own)
    // Source text cannot be spelled otherwise and mean the same.
    let visible = reject.isSourceText ? VisibleText.keepingLines(shown) : shown
    let (before, marked, behind) = RejectMark.parts(of: visible, reject)
    let maps = sources.maps.items.filter { if case .success = $0.map { true } else { false } }
    let view = View(
      code: reject.code,
      message: reject.message,
      help: reject.isRowText
        ? RejectLine.rowHelp : reject.recordBytes == nil ? nil : RejectLine.bytesHelp,
      subject: reject.attribute.map { "\(reject.entity).\($0)" } ?? reject.entity,
      place: "\(reject.file):\(reject.line), record \(reject.index + 1)",
      path: reject.path,
      before: before,
      marked: marked,
      behind: behind,
      record: record ?? shown,
      canRetry: sources.allowsWriting && !maps.isEmpty,
      why: sources.allowsWriting
        ? ConsoleWords.mapToRetry
        : ConsoleWords.importToRetry,
      address: WebText.address(["rejects", file, number]),
      csrf: sources.formToken,
      mark: line.mark,
      maps: maps.map { map in
        Choice(
          number: String(map.number),
          name: map.name,
          isChosen: (try? map.map.get().entity(named: reject.recordEntity)) ?? nil != nil
        )
      },
      notice: notice
    )
    return PageAnswer(
      title: "Reject \(number)",
      template: "reject",
      view: view,
      json: [
        "v": 1, "code": .string(reject.code), "entity": .string(reject.entity),
        "attribute": JSONValue(reject.attribute), "message": .string(reject.message),
        "file": .string(reject.file), "line": JSONValue(reject.line),
        "path": JSONValue(reject.path), "value": JSONValue(reject.value),
        "record": reject.recordBytes != nil
          ? .null : reject.isSourceText ? .string(own) : .raw(own),
        "recordBytes": JSONValue(reject.recordBytes.map { Data($0).base64EncodedString() }),
      ]
    )
  }

  /// Tries the record again, as the form has it.
  ///
  /// What is rejected again leaves its line as it was: the record as it came is nowhere else.
  ///
  /// - Returns: Why it was rejected again; nil: it is imported, and its line is gone.
  /// - Throws: `ConsoleError`, `ReadError` for what is no JSON, and what stops the import.
  static func retry(
    _ file: String,
    _ number: String,
    _ form: ConsoleForm,
    _ sources: PageSources
  ) throws -> RejectLine? {
    // A form that is sent twice, or two of one file at once, would read the same lines and write them back.
    retrying.lock()
    defer { retrying.unlock() }
    let item = try sources.rejects.item(file)
    let line = try RejectShelf.line(number, form["mark"], of: item.path)
    let shelved = try sources.maps.item(at: form["map"])
    let map = try shelved.map.get()
    try check(line.reject, against: map, shelved.name)
    // While an import writes the file its lines cannot be taken out.
    let replacement = try RejectsReplacement(item.path)
    // A form ends its lines with CR LF.
    let text = form["record"].replacing("\r\n", with: "\n")
    let mended = try line.reject.replacingRecord(with: text)
    let copy = try sources.jobs.folder() + "/retry-\(UUID().uuidString).ndjson"
    guard
      FileManager.default.createFile(
        atPath: copy,
        contents: Data(mended),
        attributes: [.posixPermissions: 0o600]
      )
    else { throw ConsoleError(500, "There is no place for a temporary file.") }
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let source = "\(line.reject.file), record \(line.reject.index + 1)"
    let store = try sources.database.openToWrite()
    defer { try? store.close() }
    let report = try Waiting.result {
      // The copy is gone when somebody looks at the history.
      let request = ImportRequest([.rejects(copy)]).with { $0.sourceName = source }
      return try await Importer(map: map, store: store).run(request)
    }
    guard report.counts.read > 0 else { throw foreign(line.reject, shelved.name) }
    if let again = try RejectLines(copy).next() { return again }
    try replacement.remove(line: line.number, line.reject.bytes)
    return nil
  }

  /// Refuses a map that cannot read the record, before anything is done.
  private static func check(
    _ reject: RejectLine,
    against map: ImportMap,
    _ name: String
  ) throws(ConsoleError) {
    let hasSource =
      map.sources.isEmpty
      || reject.source.map { wanted in map.sources.contains { $0.name == wanted } } ?? true
    guard map.entity(named: reject.recordEntity) != nil, hasSource else {
      throw foreign(reject, name)
    }
  }

  private static func foreign(_ reject: RejectLine, _ name: String) -> ConsoleError {
    let source = reject.source.map { ", or no source \"\($0)\" with it" } ?? ""
    return ConsoleError(
      400,
      "The map \(name) has no entity \"\(reject.recordEntity)\"\(source): nothing was tried.",
      help: "choose the map that the record was rejected by"
    )
  }

  // MARK: - The record as text

  /// JSON with a member a line; numbers stay as they are spelled, and strings, but for what is invisible or turns the
  /// direction of reading: it stands by its number, as JSON can have it.
  static func pretty(_ json: String) -> String {
    var text = ""
    var depth = 0
    var (isString, isEscaped) = (false, false)
    func line() -> String { "\n" + String(repeating: "  ", count: depth) }
    let characters = Array(json.unicodeScalars)
    for (place, scalar) in characters.enumerated() {
      if isString {
        if scalar.isInvisible {
          for unit in String(scalar).utf16 {
            let digits = String(unit, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
          }
        } else {
          text.unicodeScalars.append(scalar)
        }
        if isEscaped {
          isEscaped = false
        } else if scalar == "\\" {
          isEscaped = true
        } else if scalar == "\"" {
          isString = false
        }
        continue
      }
      let next = place + 1 < characters.count ? characters[place + 1] : " "
      switch scalar {
      case "\"":
        isString = true
        text += "\""
      case "{", "[":
        depth += 1
        text.unicodeScalars.append(scalar)
        if next != "}", next != "]" { text += line() }
      case "}", "]":
        depth = max(0, depth - 1)
        if text.hasSuffix("{") || text.hasSuffix("[") {
          text.unicodeScalars.append(scalar)
        } else {
          text += line()
          text.unicodeScalars.append(scalar)
        }
      case ",": text += "," + line()
      case ":": text += ": "
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

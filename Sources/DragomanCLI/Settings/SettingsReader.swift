import Dragoman
import DragomanGraph
import Foundation

extension MapFault.Code {
  /// Settings: a key that there is not, or one that is not there and should be.
  static let settingsKey = MapFault.Code(rawValue: "config.key")
  /// Settings: a value that the key does not admit.
  static let settingsValue = MapFault.Code(rawValue: "config.value")
  /// Settings: the file cannot be read, or is not well-formed.
  static let settingsFile = MapFault.Code(rawValue: "config.file")
  /// Settings: there are none where they were said to be.
  static let settingsMissing = MapFault.Code(rawValue: "config.missing")
}

/// Reads a `dragoman.yaml`; all that is wrong with it is told at once, with its place.
struct SettingsReader {
  private enum Kind {
    case text
    case table
    case list
    case number(ClosedRange<Int>)
    case percentage
    case flag
    case size
    case word([String])
  }

  private static let options: [(key: String, kind: Kind)] = [
    ("map", .text), ("database", .text), ("rejects", .text), ("source", .list),
    ("headers", .table), ("timeout", .number(1...3600)), ("retries", .number(0...20)),
    ("certificates", .text),
    ("mode", .word(EntityWriter.Mode.allCases.map(\.rawValue))),
    ("commit", .word(ImportMap.ImportOptions.Commit.allCases.map(\.rawValue))),
    ("batchSize", .number(1...1_000_000)), ("maxRejects", .number(0...Int.max)),
    ("prune", .flag), ("pruneMax", .percentage),
    ("maxRecordSize", .number(1...1024)), ("maxWaitingSize", .number(1...1_048_576)),
    ("maxBytes", .size),
  ]
  private static let topKeys = ["database", "defaults", "feeds"]

  private let file: String
  private var faults: [MapFault] = []

  init(_ file: String) { self.file = file }

  /// Reads the file.
  ///
  /// - Throws: `MapFaults`.
  func settings() throws -> ToolSettings {
    var reader = self
    let settings = reader.read(try root())
    if !reader.faults.isEmpty { throw MapFaults(reader.faults) }
    return settings
  }

  private func root() throws -> MapNode {
    let bytes: [UInt8]
    do throws(MapBytes.Failure) {
      bytes = try MapBytes.read(file)
    } catch {
      let isMissing = !FileManager.default.fileExists(atPath: file)
      throw MapFaults([
        MapFault(
          isMissing ? .settingsMissing : .settingsFile,
          "The settings cannot be read: \(error.reason).",
          file: file
        )
      ])
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw MapFaults([MapFault(.settingsFile, "The settings are not UTF-8.", file: file)])
    }
    do {
      return try MapNode.parse(text, as: .yaml, file: file)
    } catch {
      throw MapFaults(
        error.faults.map { fault in
          var fault = fault
          fault.code = .settingsFile
          fault.message = fault.message.replacing("The map is", with: "The file is")
          return fault
        }
      )
    }
  }

  private mutating func read(_ root: MapNode) -> ToolSettings {
    let folder = FilePath.folder(of: file)
    var settings = ToolSettings(file: file, folder: folder)
    for member in members(of: root, "The settings are") ?? [] {
      switch member.key {
      case "database": settings.database = text(member)
      case "defaults":
        for option in members(of: member.value, "defaults is") ?? [] {
          read(option, into: &settings.defaults, besides: [])
        }
      case "feeds":
        for feed in members(of: member.value, "feeds is") ?? [] {
          if let feed = self.feed(feed) { settings.feeds.append(feed) }
        }
      default: unknown(member, Self.topKeys)
      }
    }
    for feed in settings.feeds where feed.options.map == nil && settings.defaults.map == nil {
      faults.append(
        MapFault(
          .settingsKey,
          "The feed \(feed.name) has no map.",
          place: "feeds.\(feed.name)",
          file: file,
          position: feed.position,
          rule: "a feed has map and inputs"
        )
      )
    }
    checkRejects(settings)
    return settings
  }

  /// Each import makes its rejects file anew: what one feed left there the next one would throw away.
  private mutating func checkRejects(_ settings: ToolSettings) {
    var owners: [String: String] = [:]
    for feed in settings.feeds {
      guard let file = settings.rejectsFile(of: feed) else { continue }
      let place = ToolSettings.place(of: file)
      if let owner = owners[place] {
        faults.append(
          MapFault(
            .settingsValue,
            "The feeds \(owner) and \(feed.name) have one rejects file, \(file), which each of them makes anew.",
            place: "feeds.\(feed.name)",
            file: self.file,
            position: feed.position,
            rule: "say {feed} in its name, as in rejects-{feed}.ndjson"
          )
        )
      }
      owners[place] = feed.name
    }
  }

  private mutating func feed(_ member: MapNode.Member) -> ToolSettings.Feed? {
    var feed = ToolSettings.Feed(name: member.key)
    feed.position = member.keyPosition
    guard let options = members(of: member.value, "The feed \(member.key) is") else { return nil }
    for option in options {
      if option.key == "inputs" {
        feed.inputs = list(option)
      } else {
        read(option, into: &feed.options, besides: ["inputs"])
      }
    }
    if feed.inputs.isEmpty {
      fault(.settingsKey, "The feed \(member.key) has no inputs.", at: member.keyPosition)
    }
    return feed
  }

  private mutating func read(
    _ member: MapNode.Member,
    into options: inout ToolSettings.Options,
    besides others: [String]
  ) {
    guard let known = Self.options.first(where: { $0.key == member.key }) else {
      return unknown(member, Self.options.map(\.key) + others)
    }
    switch (known.key, known.kind) {
    case ("source", _): options.sources = list(member)
    case ("headers", _):
      for field in members(of: member.value, "headers is") ?? [] {
        if let header = header(field) { options.values.append(("--header", header)) }
      }
    case ("prune", _): options.prunes = flag(member)
    case ("map", _): options.map = text(member)
    case ("database", _): options.database = text(member)
    case ("rejects", _): options.rejects = text(member)
    case (let key, let kind):
      if let value = value(member, kind) { options.values.append((Self.option(key), value)) }
    }
  }

  /// The value of `--header` that a member of `headers` stands for.
  private mutating func header(_ field: MapNode.Member) -> String? {
    guard let variable = text(field) else { return nil }
    let header = "\(field.key)=\(variable)"
    if HeaderVariable(header) != nil { return header }
    // What is not of this form may be the secret itself.
    fault(
      .settingsValue,
      "headers has the name of a field, and behind it that of an environment variable, which this is not.",
      at: field.keyPosition
    )
    return nil
  }

  /// The option of `import` that a key stands for: `maxRejects` is `--max-rejects`.
  private static func option(_ key: String) -> String {
    "--" + key.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
  }

  // MARK: - Values

  private mutating func value(_ member: MapNode.Member, _ kind: Kind) -> String? {
    guard let text = text(member) else { return nil }
    switch kind {
    case .number(let range):
      if let number = Int(text), range.contains(number) { return text }
      let most = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
      wrong(member, "a number, \(range.lowerBound) \(most)", text)
    case .percentage:
      if let share = Double(text), (0...100).contains(share) { return text }
      wrong(member, "a percentage, 0 to 100", text)
    case .size:
      if text.wholeMatch(of: /[1-9][0-9]{0,14}([KMG]B?)?/.ignoresCase()) != nil { return text }
      wrong(member, "a number of bytes, as 500, 64K, 100M or 2G", text)
    case .word(let words):
      if words.contains(text) { return text }
      wrong(member, "one of \(words.joined(separator: ", "))", text, nearest(to: text, in: words))
    case .text, .list, .flag, .table: return text
    }
    return nil
  }

  private mutating func text(_ member: MapNode.Member) -> String? {
    if case .scalar(let text, _) = member.value.content, !text.isEmpty, !member.value.isNull {
      return text
    }
    wrong(member, "one value", member.value.kind)
    return nil
  }

  private mutating func list(_ member: MapNode.Member) -> [String] {
    guard case .sequence(let nodes) = member.value.content else {
      return text(member).map { [$0] } ?? []
    }
    return nodes.compactMap { node in
      text(MapNode.Member(key: member.key, keyPosition: node.position, value: node))
    }
  }

  private mutating func flag(_ member: MapNode.Member) -> Bool? {
    switch text(member) {
    case "true"?: return true
    case "false"?: return false
    case let text?:
      wrong(member, "true or false", text)
      return nil
    case nil: return nil
    }
  }

  private mutating func members(of node: MapNode, _ subject: String) -> [MapNode.Member]? {
    if case .mapping(let members) = node.content { return members }
    fault(.settingsValue, "\(subject) a mapping, not \(node.kind).", at: node.position)
    return nil
  }

  // MARK: - Faults

  private mutating func wrong(
    _ member: MapNode.Member,
    _ wanted: String,
    _ found: String,
    _ suggestion: String? = nil
  ) {
    faults.append(
      MapFault(
        .settingsValue,
        "\(member.key) is \(wanted), not \(found).",
        file: file,
        position: member.value.position,
        suggestion: suggestion
      )
    )
  }

  private mutating func unknown(_ member: MapNode.Member, _ keys: [String]) {
    faults.append(
      MapFault(
        .settingsKey,
        "There is no key \"\(member.key)\" here.",
        file: file,
        position: member.keyPosition,
        suggestion: nearest(to: member.key, in: keys),
        rule: "the keys are \(keys.joined(separator: ", "))"
      )
    )
  }

  private mutating func fault(
    _ code: MapFault.Code,
    _ message: String,
    at position: MapPosition
  ) {
    faults.append(MapFault(code, message, file: file, position: position))
  }
}

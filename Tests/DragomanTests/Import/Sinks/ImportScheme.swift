import DragomanGraph
import TestSupport

@testable import Dragoman

/// A random entity and how records become its objects, by a mapper or by a map file.
struct ImportScheme {
  /// One attribute: where its value stands, and its own policies.
  struct Line {
    var attribute: Attribute
    /// The default as a map file writes it.
    var literal: String?
    /// Whether the value stands in a member of a member.
    var isNested: Bool
    var policies: ValuePolicies

    var path: String { isNested ? "in.\(attribute.name)" : attribute.name }
  }

  /// Whether a mapper makes it, by Vokoder's defaults; else a map file.
  var isCode: Bool
  var lines: [Line] = []
  /// The unique keys, as places in `lines`.
  var uniqueKeys: [[Int]] = []
  var policies = ValuePolicies()
  /// The mapper's `ignoreNullValueOverwrites`.
  var keepsByNull = false
  var isSilent = false
  var overwriteExisting = true
  /// The place of the version attribute.
  var version: Int?
  var hasTombstones = false

  func isKey(_ index: Int) -> Bool { uniqueKeys.first?.contains(index) ?? false }

  /// The policy of an attribute: its own, else the entity's, else what mappers or map files do.
  func policy(_ member: KeyPath<ValuePolicies, ValuePolicy?>, _ index: Int) -> ValuePolicy {
    for level in [lines[index].policies, policies] {
      if let policy = level[keyPath: member] { return policy }
      if member != \.onInvalid, let shorthand = level.ignoreNullValueOverwrites {
        return shorthand ? .keep : .clear
      }
    }
    if isCode { return keepsByNull ? .keep : .clear }
    return member == \.onMissing ? .keep : member == \.onNull ? .clear : .reject
  }
}

extension ImportScheme: CustomStringConvertible {
  var description: String {
    var text = "\(isCode ? "mapper" : "map") unique \(uniqueKeys)"
    if let version { text += " version \(version)" }
    if hasTombstones { text += " tombstones" }
    if !overwriteExisting { text += " overwriteExisting false" }
    if keepsByNull { text += " ignoreNullValueOverwrites" }
    if isSilent { text += " ignoreOptionalNullValues" }
    text += " \(Self.text(policies))"
    for (index, line) in lines.enumerated() {
      text += "\n  \(index) \(line.attribute.name) \(line.attribute.type) at \(line.path)"
      if line.attribute.isRequired { text += " required" }
      if let literal = line.literal { text += " default \(literal)" }
      text += " \(Self.text(line.policies))"
    }
    return text
  }

  private static func text(_ policies: ValuePolicies) -> String {
    let parts: [(String, String?)] = [
      ("onMissing", policies.onMissing?.rawValue), ("onNull", policies.onNull?.rawValue),
      ("onInvalid", policies.onInvalid?.rawValue),
      ("ignoreNullValueOverwrites", policies.ignoreNullValueOverwrites.map { "\($0)" }),
    ]
    return parts.compactMap { part in part.1.map { "\(part.0): \($0)" } }.joined(separator: " ")
  }
}

// MARK: - As the importer takes it

extension ImportScheme {
  static let entity = "P"

  /// The entity of a scheme that a mapper imports.
  private var model: Model {
    Model(entities: [
      Entity(
        name: Self.entity,
        attributes: lines.map(\.attribute),
        uniqueKeys: uniqueKeys.map { $0.map { lines[$0].attribute.name } }
      )
    ])
  }

  func mapper() throws -> Mapper {
    try Mapper(
      for: Self.entity,
      in: model,
      overwriteExisting: overwriteExisting,
      ignoreNullValueOverwrites: keepsByNull,
      policies: policies.with { $0.ignoreOptionalNullValues = isSilent }
    ) {
      lines.map { line in
        Map(line.path, to: line.attribute.name).with { $0.policies = line.policies }
      }
    }
  }

  func map() throws -> ImportMap {
    let parser = ForeignPathParser(format: .json)
    let policies = policies.with { $0.ignoreOptionalNullValues = isSilent }
    let attributes = try lines.map { line in
      AttributeMap(
        name: line.attribute.name,
        from: ForeignPaths(json: [try parser.parse(line.path)]),
        type: line.attribute.type,
        isRequired: line.attribute.isRequired,
        defaultValue: line.literal,
        rules: AttributeRules(scale: line.attribute.rules.scale)
      ).with {
        $0.format.values = (line.attribute.allowedValues ?? []).map {
          .init(foreign: $0, local: $0)
        }
        $0.policies = line.policies
      }
    }
    return ImportMap(
      entities: [
        try EntityMap(
          name: Self.entity,
          uniqueKeys: uniqueKeys.map { $0.map { lines[$0].attribute.name } },
          attributes: attributes,
          policies: policies
        ).with {
          $0.version = version.map { lines[$0].attribute.name }
          $0.deleteWhen =
            hasTombstones
            ? EntityMap.Tombstone(
              from: ForeignPaths(json: [try parser.parse("gone")]),
              equals: "true"
            ) : nil
          $0.overwriteExisting = overwriteExisting ? nil : false
        }
      ]
    )
  }
}

// MARK: - At random

extension ImportScheme {
  private static let keyTypes: [AttributeType] = [
    .string, .string, .int64, .int16, .decimal, .uuid, .enum, .bool, .date, .duration,
  ]

  /// A scheme that the importer takes.
  static func random(_ random: inout SplitMix) -> ImportScheme {
    var scheme = ImportScheme(isCode: Bool.random(using: &random))
    let keyCount = [0, 1, 1, 1, 2, 2].randomElement(using: &random) ?? 1
    for index in 0..<keyCount {
      scheme.lines.append(line("k\(index)", keyTypes, isKey: true, scheme.isCode, &random))
    }
    if keyCount > 0 { scheme.uniqueKeys.append(Array(0..<keyCount)) }
    if keyCount > 0, random.chance(30) {
      let count = random.chance(30) ? 2 : 1
      let start = scheme.lines.count
      for index in 0..<count {
        scheme.lines.append(line("u\(index)", keyTypes, isKey: false, scheme.isCode, &random))
      }
      scheme.uniqueKeys.append(Array(start..<start + count))
    }
    for index in 0..<Int.random(in: 1...5, using: &random) {
      scheme.lines.append(
        line("a\(index)", AttributeType.allCases, isKey: false, scheme.isCode, &random)
      )
    }
    if !scheme.isCode, keyCount > 0 {
      if random.chance(25) {
        scheme.version = scheme.lines.count
        scheme.lines.append(
          Line(attribute: Attribute(name: "v", type: .int64), isNested: false, policies: .init())
        )
      }
      scheme.hasTombstones = random.chance(50)
    }
    scheme.keepsByNull = scheme.isCode && random.chance(30)
    scheme.isSilent = random.chance(15)
    scheme.overwriteExisting = !random.chance(10)
    if random.chance(20) { scheme.policies = policies(hasDefault: true, &random) }
    return scheme
  }

  private static func line(
    _ name: String,
    _ types: [AttributeType],
    isKey: Bool,
    _ isCode: Bool,
    _ random: inout SplitMix
  ) -> Line {
    let type = types.randomElement(using: &random) ?? .string
    var attribute = Attribute(name: name, type: type)
    attribute.isRequired = random.chance(isKey ? 60 : 12)
    if type == .enum { attribute.allowedValues = ["a", "b"] }
    if type == .decimal, random.chance(40) { attribute.rules.scale = 2 }
    var literal: String?
    if random.chance(isKey ? 15 : 25), let pair = SampleValue.default(of: attribute) {
      literal = pair.0
      attribute.defaultValue = pair.1
    }
    return Line(
      attribute: attribute,
      literal: literal,
      isNested: random.chance(25),
      policies: random.chance(isKey ? 10 : 40)
        ? policies(hasDefault: literal != nil, &random)
        : ValuePolicies()
    )
  }

  /// Random policies; an attribute without a default may not ask for it.
  private static func policies(hasDefault: Bool, _ random: inout SplitMix) -> ValuePolicies {
    let choices = ValuePolicy.allCases.filter { hasDefault || $0 != .default }
    var policies = ValuePolicies()
    if random.chance(50) { policies.onMissing = choices.randomElement(using: &random) }
    if random.chance(50) { policies.onNull = choices.randomElement(using: &random) }
    if random.chance(50) { policies.onInvalid = choices.randomElement(using: &random) }
    if random.chance(20) { policies.ignoreNullValueOverwrites = Bool.random(using: &random) }
    return policies
  }
}

extension SplitMix {
  /// True in that many of a hundred cases.
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

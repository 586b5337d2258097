extension MapValidator {
  /// The most paths that may be tried for one value.
  static let maximumPathCount = 1000

  /// Checks every path of an entity: that it can mean something where it stands.
  ///
  /// The parser of paths has seen most of it; maps built in code have no parser.
  mutating func checkPaths(of entity: EntityMap) {
    let place = "entities.\(entity.name)"
    for attribute in entity.attributes {
      check(attribute.from, at: "\(place).attributes.\(attribute.name).from")
    }
    for relationship in entity.relationships {
      let place = "\(place).relationships.\(relationship.name)"
      check(relationship.from, at: "\(place).from")
      for (name, part) in (relationship.key ?? [:]).sorted(by: { $0.key < $1.key }) {
        if case .path(let paths, _) = part { check(paths, at: "\(place).key.\(name)") }
      }
    }
    let criteria = [
      ("discriminator", entity.discriminator?.from), ("deleteWhen", entity.deleteWhen?.from),
    ]
    for (rule, from) in criteria {
      check(from, at: "\(place).\(rule).from")
      for path in from?.all ?? [] where path.hasWildcard {
        report(
          .path,
          "\"\(path.text)\" may name several values, and \(rule) wants one.",
          at: "\(place).\(rule).from",
          rule: "name the one that is meant: a[0], a.name"
        )
      }
    }
  }

  /// Checks where the records of a source stand.
  mutating func checkRecords(of source: SourceMap) {
    guard let path = source.records else { return }
    let isWay = path.steps.allSatisfy { step in
      switch step {
      case .member, .anyMember: true
      case .index, .all: source.format != .xml
      case .attribute, .text, .having: false
      }
    }
    guard path.root != .record || !isWay else { return }
    report(
      .path,
      "\"\(path.text)\" does not lead from the top of the file to records.",
      at: "sources.\(source.name).records",
      rule: source.format == .xml ? "elements: /people/person" : "members and elements: data.people"
    )
  }

  private mutating func check(_ paths: ForeignPaths?, at place: String) {
    guard let paths else { return }
    for (format, member) in ForeignPaths.members {
      let paths = paths[keyPath: member]
      if paths.count > Self.maximumPathCount {
        let message =
          "A value has at most \(Self.maximumPathCount) paths in a format, this one \(paths.count)."
        report(.limit, message, at: place)
      }
      // In CSV any text is the name of a column.
      if format != .csv { checkRoots(paths, at: place) }
    }
  }

  /// `$index`, `$file`, `$line` and `$key` are single values: a path built in code cannot go on.
  private mutating func checkRoots(_ paths: [ForeignPath], at place: String) {
    for path in paths where !path.steps.isEmpty {
      switch path.root {
      case .record, .parent, .document: break
      case .index, .file, .fileName, .fileStem, .line, .key:
        report(.path, "\"\(path.text)\": nothing can follow \"$\(path.root)\".", at: place)
      }
    }
  }
}

/// A table whose changes are noted: what is written down of a row, and what it says.
struct ObservedTable {
  /// A value that is noted, as SQL: given the row (`OLD` or `NEW`), or what stands for a column of it.
  private typealias Value = (_ column: (String) -> String) -> String

  /// What the rows of one entity say, and where the values stand.
  struct Subject {
    /// A relationship, and where the keys of its target stand.
    struct Link {
      let name: String
      let isToOne: Bool
      let keys: [Key]
      /// Where the primary key of its target stands.
      let place: Int
    }

    /// A unique key, and where its values stand.
    struct Key {
      let attributes: [Attribute]
      let places: Range<Int>
    }

    let name: String
    let attributes: [Attribute]
    /// The names of the properties of its unique keys.
    let keys: [[String]]
    let places: [Int]
    let links: [Link]
    /// The names of all relationships of the entity, in the order of the model.
    let relationships: [String]
  }

  /// The table.
  let name: String
  /// The table of the objects that its rows are of: itself, or the owners' of its links.
  ///
  /// The first value that is noted is the primary key of one of them.
  let objects: String
  /// Whether it holds links, and no objects.
  var isLinks: Bool { objects != name }
  /// Whether it holds links in an order of their owners'; the last value noted is then the position.
  let isOrdered: Bool
  /// How many values are noted of a row.
  var width: Int { noted.count }
  private var noted: [Value] = []
  private let entityOf: (String) -> String
  private var root: Subject
  private var others: [String: Subject] = [:]

  /// The tables of a model: those of objects, and those of links.
  ///
  /// - Parameters:
  ///   - layout: The model.
  ///   - schemas: The databases of the connection in which the objects that rows refer to are looked for, in
  ///     this order.
  /// - Returns: The tables of objects, then those of links.
  static func all(of layout: ModelLayout, lookingIn schemas: [String]) -> [ObservedTable] {
    let roots = layout.entities.filter { $0.root == $0.index }
    return roots.map { ObservedTable($0, layout, schemas) }
      + layout.links.compactMap { ObservedTable($0, layout, schemas) }
  }

  /// The table of a family of entities.
  private init(_ entity: EntityLayout, _ layout: ModelLayout, _ schemas: [String]) {
    name = entity.table
    objects = name
    isOrdered = false
    entityOf = { entity.hasEntityColumn ? "\($0)._entity" : "NULL" }
    let family = entity.family.map { layout.entities[$0] }
    var noted: [Value] = [{ $0("_pk") }]
    var placeOfColumn: [String: Int] = [:]
    for attribute in family.flatMap(\.entity.attributes)
    where placeOfColumn[attribute.column] == nil {
      placeOfColumn[attribute.column] = noted.count
      noted.append { $0(Schema.quoted(attribute.column)) }
    }
    var linkOfColumn: [String: Subject.Link] = [:]
    for relative in family {
      for link in relative.relationships where link.owner == relative.index {
        guard case .column(let column) = link.storage else { continue }
        let target = layout.entities[link.destination]
        let keys = Self.note(target, by: column, in: layout, schemas, &noted)
        linkOfColumn[column] = Subject.Link(
          name: link.name,
          isToOne: true,
          keys: keys,
          place: noted.count
        )
        noted.append { $0(Schema.quoted(column)) }
      }
    }
    self.noted = noted
    let subjects = family.map { relative in
      let known = relative.attributes.compactMap { attribute in
        placeOfColumn[attribute.column].map { (attribute, $0) }
      }
      return Subject(
        name: relative.name,
        attributes: known.map(\.0),
        keys: relative.uniqueKeys.map { $0.map(\.name) },
        places: known.map(\.1),
        links: relative.relationships.compactMap { link in
          if case .column(let column) = link.storage { linkOfColumn[column] } else { nil }
        },
        relationships: relative.relationships.map(\.name)
      )
    }
    root = subjects[0]
    others = Dictionary(subjects.map { ($0.name, $0) }) { first, _ in first }
  }

  /// A table of links; nil where it is told from its other side.
  private init?(_ link: RelationshipLayout, _ layout: ModelLayout, _ schemas: [String]) {
    guard case .joinTable(let join, isOwner: true) = link.storage else { return nil }
    name = join.name
    objects = join.ownerTable
    isOrdered = join.hasPosition
    let (owner, target) = (layout.entities[link.owner], layout.entities[link.destination])
    var noted: [Value] = [{ $0("owner") }, { $0("target") }]
    let ownerKeys = Self.note(owner, by: "owner", in: layout, schemas, &noted)
    let targetKeys = Self.note(target, by: "target", in: layout, schemas, &noted)
    if isOrdered { noted.append { $0("position") } }
    entityOf = { row in
      guard owner.hasEntityColumn else { return "NULL" }
      return Self.first(of: schemas) {
        "(SELECT _entity FROM \($0).\(Schema.quoted(owner.table)) WHERE _pk = \(row).owner)"
      }
    }
    self.noted = noted
    let subject = Subject(
      name: owner.name,
      attributes: ownerKeys.flatMap(\.attributes),
      keys: ownerKeys.map { $0.attributes.map(\.name) },
      places: ownerKeys.flatMap(\.places),
      links: [Subject.Link(name: link.name, isToOne: false, keys: targetKeys, place: 1)],
      relationships: owner.relationships.map(\.name)
    )
    root = subject
    for relative in owner.family {
      others[layout.entities[relative].name] = subject.of(layout.entities[relative])
    }
  }

  /// The values of a row, as SQL.
  func values(_ row: String) -> [String] { noted.map { $0 { "\(row).\($0)" } } }

  /// The name of the row's entity, as SQL.
  func entity(_ row: String) -> String { entityOf(row) }

  /// What the rows of an entity say.
  func subject(named name: String?) -> Subject { name.flatMap { others[$0] } ?? root }

  // MARK: - Keys

  /// Notes the unique keys of the object that a column refers to.
  ///
  /// - Returns: Where they stand.
  private static func note(
    _ target: EntityLayout,
    by column: String,
    in layout: ModelLayout,
    _ schemas: [String],
    _ noted: inout [Value]
  ) -> [Subject.Key] {
    target.uniqueKeys.map { key in
      let parts = parts(of: key, target, layout, schemas)
      let first = noted.count
      noted += parts.map { value($0.value, of: target, by: column, in: schemas) }
      return Subject.Key(attributes: parts.map(\.attribute), places: first..<noted.count)
    }
  }

  /// The parts of a unique key, those of to-ones resolved by the identities of their targets.
  private static func parts(
    of key: [EntityLayout.KeyPart],
    _ entity: EntityLayout,
    _ layout: ModelLayout,
    _ schemas: [String],
    depth: Int = 0
  ) -> [(attribute: Attribute, value: Value)] {
    key.flatMap { part -> [(attribute: Attribute, value: Value)] in
      switch part.property {
      case .attribute(let slot):
        return [(entity.attributes[slot], { $0(Schema.quoted(part.column)) })]
      case .relationship(let slot):
        let target = layout.entities[entity.relationships[slot].destination]
        // A chain of to-ones that leads back to itself has no end.
        let identity = depth < layout.entities.count ? target.uniqueKeys.first : nil
        let parts =
          identity.map { self.parts(of: $0, target, layout, schemas, depth: depth + 1) }
          ?? [(Attribute.primaryKey, { $0("_pk") })]
        return parts.map { inner in
          var attribute = inner.attribute
          attribute.name = parts.count == 1 ? part.name : "\(part.name).\(attribute.name)"
          return (
            attribute, value(inner.value, of: target, by: part.column, in: schemas, depth: depth)
          )
        }
      }
    }
  }

  /// A value of the object that a column refers to.
  private static func value(
    _ value: @escaping Value,
    of target: EntityLayout,
    by column: String,
    in schemas: [String],
    depth: Int? = nil
  ) -> Value {
    let alias = "_t" + (depth.map { "\($0)" } ?? "")
    return { outer in
      first(of: schemas) { schema in
        "(SELECT \(value { "\(alias).\($0)" }) FROM \(schema).\(Schema.quoted(target.table)) AS \(alias)"
          + " WHERE \(alias)._pk = \(outer(Schema.quoted(column))))"
      }
    }
  }

  /// The first of several values that is not null, as SQL.
  private static func first(of schemas: [String], _ value: (String) -> String) -> String {
    schemas.count == 1
      ? value(schemas[0]) : "coalesce(\(schemas.map(value).joined(separator: ", ")))"
  }
}

extension ObservedTable.Subject {
  /// The same for another entity of the family.
  fileprivate func of(_ relative: EntityLayout) -> Self {
    Self(
      name: relative.name,
      attributes: attributes,
      keys: keys,
      places: places,
      links: links,
      relationships: relative.relationships.map(\.name)
    )
  }

  /// The same with what another entity of the family has besides: an object that was of that one loses it.
  func with(_ other: Self) -> Self {
    if hasSameBytes(name, other.name) { return self }
    func isNew<T>(_ property: T, _ own: [T], _ name: (T) -> String) -> Bool {
      !own.contains { hasSameBytes(name($0), name(property)) }
    }
    let gone = other.attributes.indices.filter { isNew(other.attributes[$0], attributes, \.name) }
    return Self(
      name: name,
      attributes: attributes + gone.map { other.attributes[$0] },
      keys: keys,
      places: places + gone.map { other.places[$0] },
      links: links + other.links.filter { isNew($0, links, \.name) },
      relationships: relationships + other.relationships.filter { isNew($0, relationships, \.self) }
    )
  }

  /// A change of an object with what changed of its links in other tables, in the order of the model.
  func adding(_ more: [ChangeLog.Links], to change: ChangeLog.Change) -> ChangeLog.Change {
    guard !more.isEmpty else { return change }
    let links = change.links + more
    var whole = change
    whole.links = relationships.compactMap { name in
      links.first { hasSameBytes($0.name, name) }
    }
    return whole
  }

  /// A change of a row, given what was noted before and after, and the entity before.
  func change(
    old: [StoredValue]?,
    new: [StoredValue]?,
    formerly former: String? = nil
  ) -> ChangeLog.Change {
    func target(_ values: [StoredValue]?, _ link: Link) -> [ChangeLog.Target] {
      guard let values, values[link.place] != .null else { return [] }
      return [link.target(values)]
    }
    let isOther = old != nil && new != nil && former.map { !hasSameBytes($0, name) } == true
    return ChangeLog.Change(
      entity: name,
      formerEntity: isOther ? former : nil,
      attributes: attributes,
      keys: keys,
      primaryKey: (new ?? old)?[0] ?? .null,
      old: old.map { values in places.map { values[$0] } },
      new: new.map { values in places.map { values[$0] } },
      links: links.map { link in
        ChangeLog.Links(
          name: link.name,
          isToOne: link.isToOne,
          old: target(old, link),
          new: target(new, link)
        )
      }
    )
  }

  /// A change of the links of an object, given what was noted of one of them.
  func change(
    _ owner: [StoredValue],
    removed: [ChangeLog.Target],
    added: [ChangeLog.Target]
  ) -> ChangeLog.Change {
    let values = places.map { owner[$0] }
    return ChangeLog.Change(
      entity: name,
      formerEntity: nil,
      attributes: attributes,
      keys: keys,
      primaryKey: owner[0],
      old: values,
      new: values,
      links: links.map {
        ChangeLog.Links(name: $0.name, isToOne: false, old: removed, new: added)
      }
    )
  }
}

extension ObservedTable.Subject.Link {
  /// The link's target, given what was noted: by its first unique key that has no null, or by its primary key.
  func target(_ values: [StoredValue]) -> ChangeLog.Target {
    let key = keys.first { !values[$0.places].contains(.null) }
    return ChangeLog.Target(
      key: key?.attributes ?? [.primaryKey],
      values: key.map { Array(values[$0.places]) } ?? [values[place]],
      primaryKey: values[place]
    )
  }
}

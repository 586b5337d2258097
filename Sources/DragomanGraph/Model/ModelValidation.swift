/// One thing that is wrong with a model.
public struct ModelFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rule that is broken.
  public enum Rule: String, Sendable, Hashable {
    /// A name is empty, reserved or holds control characters.
    case name
    /// Two names are one to SQLite, which ignores the case of ASCII letters, or to readers: NFC and NFD look the same.
    case clash
    /// Something refers to a name that does not exist.
    case reference
    /// A table would have more columns than SQLite admits.
    case columns
    /// A default or limit is no value of its attribute, or no value can obey the limits.
    case value
  }

  /// Which name of the property (or entity) is concerned.
  public enum Part: String, Sendable, Hashable {
    /// Its own name.
    case name
    /// The name of the entity's table.
    case table
    /// The name of the attribute's column.
    case column
    /// The entity's parent.
    case parent
    /// The relationship's destination.
    case destination
    /// The relationship's inverse.
    case inverse
    /// A unique key.
    case unique
    /// The attribute's default.
    case defaultValue = "default"
    /// The attribute's smallest value.
    case minimum = "min"
    /// The attribute's largest value.
    case maximum = "max"
    /// The lengths of the attribute's values.
    case length
    /// The attribute's regular expression.
    case pattern
    /// The attribute's digits behind the point.
    case scale
  }

  /// The rule that is broken.
  public var rule: Rule
  /// The entity concerned.
  public var entity: String
  /// The attribute or relationship concerned, if it is not the entity itself.
  public var property: String?
  /// Which of its names is concerned.
  public var part: Part
  /// What is wrong, a full sentence.
  public var message: String
  /// The nearest valid word, where there is one.
  public var suggestion: String?

  /// The place and the message on one line.
  public var description: String {
    let help = suggestion.map { " (did you mean \"\($0)\"?)" } ?? ""
    return "\(entity)\(property.map { ".\($0)" } ?? ""): \(message)\(help)"
  }
}

extension Model {
  /// SQLite's limit on the columns of a table (https://www.sqlite.org/limits.html).
  public static let maximumColumnCount = 2000
  /// How many ancestors an entity may have.
  public static let maximumAncestorCount = 8

  /// Everything that is wrong with the model; empty when a store can be made of it.
  ///
  /// Names must not be empty, start with `_` or `sqlite_`, or hold control characters; names that
  /// differ only in the case of ASCII letters are one name to SQLite, and those that differ only in the Unicode form of
  /// their letters (NFC, NFD) to whoever reads them (docs/file.md).
  public func validate() -> [ModelFault] {
    var faults: [ModelFault] = []
    var tables = NameRegister()
    var names = NameRegister()
    for entity in entities {
      faults += fault(inName: entity.name, of: entity, part: .name)
      if let earlier = names.insert(entity.name) {
        faults.append(clash(entity.name, with: "entity \"\(earlier)\"", of: entity, part: .name))
      }
      if entity.parent == nil {
        if !hasSameBytes(entity.table, entity.name) {
          faults += fault(inName: entity.table, of: entity, part: .table)
        }
        if let earlier = tables.insert(entity.table), names.contains(only: entity.name) {
          faults.append(clash(entity.table, with: "table \"\(earlier)\"", of: entity, part: .table))
        }
      }
      faults += parentFaults(entity)
      faults += propertyFaults(entity)
      faults += uniqueFaults(entity)
    }
    for entity in entities where entity.parent == nil { faults += columnFaults(root: entity) }
    return faults + (faults.isEmpty ? ModelLayout(self).keyFaults + linkTableFaults() : [])
  }

  /// Tables and columns that hold links get their names from the relationships.
  private func linkTableFaults() -> [ModelFault] {
    let layout = ModelLayout(self)
    var faults: [ModelFault] = []
    var tables = NameRegister()
    for entity in layout.entities where entity.root == entity.index {
      _ = tables.insert(entity.table)
    }
    var orders: [String: NameRegister] = [:]
    for entity in layout.entities {
      for link in entity.relationships where link.owner == entity.index {
        switch link.storage {
        case .joinTable(let join, isOwner: true):
          if let earlier = tables.insert(join.name) {
            let other = "table \"\(earlier)\""
            faults.append(clash(join.name, with: other, of: entity.entity, link.name, part: .table))
          }
        case .inverseColumn(_, let order?):
          let table = layout.entities[link.destination].table
          if orders[table, default: NameRegister()].insert(order) != nil {
            let other = "another ordered relationship to \(table)"
            faults.append(clash(order, with: other, of: entity.entity, link.name, part: .column))
          }
        default: break
        }
      }
    }
    return faults
  }

  /// The entity's ancestors, nearest first.
  ///
  /// Stops at a name that is missing or met before, and behind `maximumAncestorCount`.
  public func ancestors(of entity: Entity) -> [Entity] {
    var found: [Entity] = []
    var parent = entity.parent
    while let name = parent, let next = self.entity(named: name),
      !found.contains(where: { hasSameBytes($0.name, name) }),
      found.count <= Model.maximumAncestorCount
    {
      found.append(next)
      parent = next.parent
    }
    return found
  }

  private func parentFaults(_ entity: Entity) -> [ModelFault] {
    guard let parent = entity.parent else { return [] }
    guard self.entity(named: parent) != nil else {
      return [unknown("entity", parent, of: entity, part: .parent, in: entities.map(\.name))]
    }
    let ancestors = ancestors(of: entity)
    let problem: String
    if ancestors.contains(where: { hasSameBytes($0.name, entity.name) }) {
      problem = "An entity cannot be its own ancestor."
    } else if ancestors.count > Model.maximumAncestorCount {
      problem = "An entity has at most \(Model.maximumAncestorCount) ancestors."
    } else {
      return []
    }
    return [ModelFault(rule: .reference, entity: entity.name, part: .parent, message: problem)]
  }

  private func propertyFaults(_ entity: Entity) -> [ModelFault] {
    var faults: [ModelFault] = []
    var names = NameRegister()
    for attribute in entity.attributes {
      faults += attribute.ruleFaults.map { part, message in
        ModelFault(
          rule: .value,
          entity: entity.name,
          property: attribute.name,
          part: part,
          message: message
        )
      }
      faults += fault(inName: attribute.name, of: entity, property: attribute.name, part: .name)
      if let earlier = names.insert(attribute.name) {
        faults.append(
          clash(
            attribute.name,
            with: "property \"\(earlier)\"",
            of: entity,
            attribute.name,
            part: .name
          )
        )
      }
      if !hasSameBytes(attribute.column, attribute.name) {
        faults += fault(
          inName: attribute.column,
          of: entity,
          property: attribute.name,
          part: .column
        )
      }
    }
    for relationship in entity.relationships {
      let name = relationship.name
      faults += fault(inName: name, of: entity, property: name, part: .name)
      if let earlier = names.insert(name) {
        faults.append(clash(name, with: "property \"\(earlier)\"", of: entity, name, part: .name))
      }
      faults += linkFaults(relationship, of: entity)
    }
    return faults
  }

  private func linkFaults(_ relationship: Relationship, of entity: Entity) -> [ModelFault] {
    guard let target = self.entity(named: relationship.destination) else {
      return [
        unknown(
          "entity",
          relationship.destination,
          of: entity,
          relationship.name,
          part: .destination,
          in: entities.map(\.name)
        )
      ]
    }
    guard let inverse = relationship.inverse else { return [] }
    let problem: String
    if target.attribute(named: inverse) != nil {
      problem = "\(target.name).\(inverse) is an attribute and cannot be an inverse."
    } else if let back = target.relationships.first(where: { hasSameBytes($0.name, inverse) }),
      !lineage(of: entity).contains(where: { hasSameBytes($0.name, back.destination) })
    {
      problem = "\(target.name).\(inverse) leads to \(back.destination), not to \(entity.name)."
    } else if let back = target.relationships.first(where: { hasSameBytes($0.name, inverse) }),
      let other = back.inverse, !hasSameBytes(other, relationship.name)
    {
      problem = "The inverse of \(target.name).\(inverse) is \(other), not \(relationship.name)."
    } else if relationship.kind == .toOne, hasSameBytes(inverse, relationship.name),
      lineage(of: target).contains(where: { hasSameBytes($0.name, entity.name) })
    {
      problem =
        "A to-one that is its own inverse would be linked on one side only: declare two that are each"
        + " other's inverse, or a to-many."
    } else {
      return []
    }
    return [
      ModelFault(
        rule: .reference,
        entity: entity.name,
        property: relationship.name,
        part: .inverse,
        message: problem
      )
    ]
  }

  /// The entity and its ancestors, nearest first.
  func lineage(of entity: Entity) -> [Entity] { [entity] + ancestors(of: entity) }

  /// Columns of one table: those of the root entity and of everything below it.
  private func columnFaults(root: Entity) -> [ModelFault] {
    var faults: [ModelFault] = []
    var register = NameRegister()
    // _pk, _v, _entity and _stub are the table's own.
    var count = 4
    for entity in entities
    where hasSameBytes((ancestors(of: entity).last ?? entity).name, root.name) {
      let links = entity.relationships.filter { $0.kind == .toOne }
      let columns =
        entity.attributes.map { (name: $0.name, column: $0.column) }
        + links.map { (name: $0.name, column: $0.name) }
      var names = NameRegister()
      for (name, column) in columns {
        count += 1
        let isToldAsName = names.insert(name) != nil
        if let earlier = register.insert(column), !isToldAsName {
          let other = "column \"\(earlier)\""
          faults.append(clash(column, with: other, of: entity, name, part: .column))
        }
      }
    }
    if count > Model.maximumColumnCount {
      faults.append(
        ModelFault(
          rule: .columns,
          entity: root.name,
          part: .table,
          message:
            "The table would have \(count) columns; SQLite admits \(Model.maximumColumnCount)."
        )
      )
    }
    return faults
  }

  private func fault(
    inName name: String,
    of entity: Entity,
    property: String? = nil,
    part: ModelFault.Part
  ) -> [ModelFault] {
    guard let problem = problem(inName: name) else { return [] }
    return [
      ModelFault(
        rule: .name,
        entity: entity.name,
        property: property,
        part: part,
        message: problem
      )
    ]
  }

  /// Two names that are one.
  func clash(
    _ name: String,
    with other: String,
    of entity: Entity,
    _ property: String? = nil,
    part: ModelFault.Part
  ) -> ModelFault {
    ModelFault(
      rule: .clash,
      entity: entity.name,
      property: property,
      part: part,
      message: NameRegister.clash(name, with: other)
    )
  }

  /// A name that refers to nothing.
  func unknown(
    _ kind: String,
    _ name: String,
    of entity: Entity,
    _ property: String? = nil,
    part: ModelFault.Part,
    in candidates: [String]
  ) -> ModelFault {
    ModelFault(
      rule: .reference,
      entity: entity.name,
      property: property,
      part: part,
      message: "There is no \(kind) \"\(name)\".",
      suggestion: nearest(to: name, in: candidates)
    )
  }

  private func problem(inName name: String) -> String? {
    if name.isEmpty { return "A name cannot be empty." }
    if name.utf8.count > 200 { return "A name has at most 200 bytes." }
    if name.utf8.first == 0x5F { return "Names that start with \"_\" belong to Dragoman." }
    if name.lowercased().utf8.starts(with: "sqlite_".utf8) {
      return "Names that start with \"sqlite_\" belong to SQLite."
    }
    if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      return "A name cannot hold control characters."
    }
    return nil
  }
}

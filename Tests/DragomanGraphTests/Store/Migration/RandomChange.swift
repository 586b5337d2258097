import TestSupport

@testable import DragomanGraph

/// Random changes of any model, whether the data, or the models, allow them or not.
struct RandomChange {
  var random: SplitMix
  private(set) var model: Model
  /// What has no name yet.
  private var count = 0

  init(_ model: Model, _ random: SplitMix) {
    self.model = model
    self.random = random
    // Former names are those of the change before.
    for entity in self.model.entities.indices {
      self.model.entities[entity].renamedFrom = nil
      for index in self.model.entities[entity].attributes.indices {
        self.model.entities[entity].attributes[index].renamedFrom = nil
      }
      for index in self.model.entities[entity].relationships.indices {
        self.model.entities[entity].relationships[index].renamedFrom = nil
      }
    }
  }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  private mutating func newName(_ start: String) -> String {
    count += 1
    return "\(start)\(count) \(UInt16.random(in: 0...UInt16.max, using: &random))"
  }

  /// A value that every store takes.
  static func value(_ attribute: Attribute, _ random: inout SplitMix) -> StoredValue {
    value(Values.stored(attribute, &random), of: attribute)
  }

  /// A value that a model can have for a default.
  private mutating func defaultValue(_ attribute: Attribute) -> StoredValue {
    let value = Self.value(attribute, &random)
    // A model is written as JSON, which has no infinity.
    if case .real(let real) = value, !real.isFinite { return .real(0.5) }
    return value
  }

  /// The value, or one like it that every store takes.
  static func value(_ value: StoredValue, of attribute: Attribute) -> StoredValue {
    guard case .text(let text) = value else { return value }
    if attribute.type == .json { return .text("[\(text.utf8.count)]") }
    return .text(text.replacing("\0", with: ""))
  }

  /// One change.
  mutating func change() {
    let entity = Int.random(in: model.entities.indices, using: &random)
    let attribute = model.entities[entity].attributes.indices.randomElement(using: &random)
    let link = model.entities[entity].relationships.indices.randomElement(using: &random)
    switch (Int.random(in: 0..<14, using: &random), attribute, link) {
    case (0, _, _): rename(entity)
    case (1, let index?, _), (2, let index?, _): rename(attribute: index, of: entity)
    case (3, _, let index?): rename(relationship: index, of: entity)
    case (4, let index?, _), (5, let index?, _), (6, let index?, _): retype(index, of: entity)
    case (7, let index?, _): require(index, of: entity)
    case (8, let index?, _): setKeys(index, of: entity)
    case (9, _, let index?), (10, _, let index?): restructure(index, of: entity)
    case (11, let index?, let link?): drop(index, link, of: entity)
    case (12, _, _): add(to: entity)
    default: changeFamily(of: entity)
    }
  }

  private mutating func rename(_ entity: Int) {
    let (old, new) = (model.entities[entity].name, newName("E"))
    model.entities[entity].name = new
    model.entities[entity].renamedFrom = model.entities[entity].renamedFrom ?? old
    if chance(2) { model.entities[entity].table = new }
    for index in model.entities.indices {
      if model.entities[index].parent == old { model.entities[index].parent = new }
      for link in model.entities[index].relationships.indices
      where model.entities[index].relationships[link].destination == old {
        model.entities[index].relationships[link].destination = new
      }
    }
  }

  private mutating func rename(attribute index: Int, of entity: Int) {
    let (old, new) = (model.entities[entity].attributes[index].name, newName("a"))
    model.entities[entity].attributes[index].name = new
    model.entities[entity].attributes[index].renamedFrom =
      model.entities[entity].attributes[index].renamedFrom ?? old
    if chance(2) { model.entities[entity].attributes[index].column = new }
    for key in model.entities[entity].uniqueKeys.indices {
      model.entities[entity].uniqueKeys[key] = model.entities[entity].uniqueKeys[key].map {
        $0 == old ? new : $0
      }
    }
  }

  /// The relationship at the other end, if it is another one.
  private func inverse(of relationship: Relationship) -> (entity: Int, index: Int)? {
    guard let name = relationship.inverse,
      let entity = model.entities.firstIndex(where: { $0.name == relationship.destination }),
      let index = model.entities[entity].relationships.firstIndex(where: { $0.name == name })
    else { return nil }
    return (entity, index)
  }

  private mutating func rename(relationship index: Int, of entity: Int) {
    let relationship = model.entities[entity].relationships[index]
    let new = newName("r")
    if let other = inverse(of: relationship) {
      model.entities[other.entity].relationships[other.index].inverse = new
    }
    model.entities[entity].relationships[index].name = new
    model.entities[entity].relationships[index].renamedFrom =
      relationship.renamedFrom ?? relationship.name
  }

  private mutating func retype(_ index: Int, of entity: Int) {
    // Most values become texts; few become anything else.
    var type =
      chance(2) ? .string : AttributeType.allCases.randomElement(using: &random) ?? .string
    let name = model.entities[entity].attributes[index].name
    // A server does not compare JSON.
    if type == .json, model.entities[entity].uniqueKeys.joined().contains(name) { type = .string }
    model.entities[entity].attributes[index].type = type
    model.entities[entity].attributes[index].defaultValue = nil
    model.entities[entity].attributes[index].isRequired = false
    model.entities[entity].attributes[index].allowedValues = type == .enum ? Values.words : nil
    model.entities[entity].attributes[index].rules.scale = type == .decimal && chance(2) ? 3 : nil
  }

  private mutating func require(_ index: Int, of entity: Int) {
    let attribute = model.entities[entity].attributes[index]
    model.entities[entity].attributes[index].isRequired = true
    if !chance(4) {
      model.entities[entity].attributes[index].defaultValue = defaultValue(attribute)
    }
  }

  private mutating func setKeys(_ index: Int, of entity: Int) {
    let attribute = model.entities[entity].attributes[index]
    if chance(2) || attribute.type == .json {
      model.entities[entity].attributes[index].isIndexed.toggle()
    } else if model.entities[entity].uniqueKeys.isEmpty {
      model.entities[entity].uniqueKeys = [[attribute.name]]
    } else {
      model.entities[entity].uniqueKeys.removeLast()
    }
  }

  private mutating func restructure(_ index: Int, of entity: Int) {
    var relationship = model.entities[entity].relationships[index]
    let isSymmetric =
      relationship.inverse == relationship.name
      && relationship.destination == model.entities[entity].name
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      relationship.kind = relationship.kind == .toOne ? .toMany : .toOne
      relationship.isOrdered = false
      relationship.allowsRepeats = false
    case 1 where relationship.kind == .toMany && !isSymmetric:
      relationship.isOrdered.toggle()
      relationship.allowsRepeats =
        relationship.isOrdered && relationship.inverse == nil && chance(2)
    default:
      guard !isSymmetric, let other = inverse(of: relationship) else { return }
      model.entities[other.entity].relationships[other.index].inverse = nil
      relationship.inverse = nil
    }
    model.entities[entity].relationships[index] = relationship
  }

  private mutating func drop(_ index: Int, _ link: Int, of entity: Int) {
    let attribute = model.entities[entity].attributes[index].name
    if chance(2) {
      model.entities[entity].attributes.remove(at: index)
      model.entities[entity].uniqueKeys.removeAll { $0.contains(attribute) }
    } else {
      let relationship = model.entities[entity].relationships[link]
      if let other = inverse(of: relationship) {
        model.entities[other.entity].relationships[other.index].inverse = nil
      }
      model.entities[entity].relationships.remove(at: link)
    }
  }

  private mutating func add(to entity: Int) {
    let type = AttributeType.allCases.randomElement(using: &random) ?? .string
    var attribute = Attribute(
      name: newName("a"),
      type: type,
      isIndexed: chance(2),
      allowedValues: type == .enum ? Values.words : nil
    )
    if chance(2) {
      attribute.isRequired = true
      attribute.defaultValue = defaultValue(attribute)
    }
    model.entities[entity].attributes.append(attribute)
    let target = model.entities.randomElement(using: &random)?.name ?? ""
    model.entities[entity].relationships.append(
      chance(2) ? .toOne(newName("r"), target) : .toMany(newName("r"), target)
    )
  }

  /// A new entity below another one, or an entity that goes.
  private mutating func changeFamily(of entity: Int) {
    let name = model.entities[entity].name
    let isNeeded = model.entities.contains { other in
      other.parent == name
        || other.name != name && other.relationships.contains { $0.destination == name }
    }
    if !isNeeded, model.entities.count > 1, chance(2) {
      model.entities.remove(at: entity)
    } else if chance(4) {
      model.entities[entity].isAbstract.toggle()
    } else {
      let attribute = Attribute(name: newName("a"), type: .int32)
      model.entities.append(
        Entity(name: newName("E"), attributes: [attribute], parent: chance(3) ? nil : name)
      )
    }
  }
}

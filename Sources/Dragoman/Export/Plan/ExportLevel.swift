import DragomanGraph

/// What is read of one entity at one place of a record: its columns, and the relationships from there.
struct ExportLevel: Sendable {
  /// The attributes to read, in the order of a row's columns.
  var columns: [Attribute] = []
  /// The relationships to read, in the order of a row's links.
  var links: [Link] = []
  /// The trees that objects are written by: that of the entity itself, then one for each of its
  /// sub-entities that is written by a map of its own.
  private(set) var trees = [Tree()]
  /// Which tree objects of which entity are written by; empty where all are of one.
  var kinds: [Kind] = []
  /// The first ancestor of its entity, by its place in the model: objects of one family are told apart by their `_pk`.
  var root = -1

  /// The parts of the key that rows of it are named by; empty where they are records.
  var keys: [KeyPart] = []
  /// The hook of the mapper that its objects are written by; nil: none.
  var postExport: PostExportHook?
  /// Of objects inside of others: the links that their records do not say, and that an import misses.
  var missed: [MissedLink] = []

  /// What one tree says of its objects.
  struct Tree: Sendable {
    /// The columns of the attributes that records say something of.
    fileprivate(set) var attributes: [Int] = []
    /// Those of them that are not written, because something else holds them.
    fileprivate(set) var shadowed: [Int] = []
    /// Whether the word that tells its entity stands inside of something else.
    var hidesEntity = false
  }

  /// The objects of one entity.
  struct Kind: Sendable {
    /// The entity's name, as the store has it.
    let name: [UInt8]
    let tree: Int
    /// Why they do not come back as what they are; nil where they do.
    var loss: String?
    /// Why they are not written at all; nil where they are.
    var obstacle: String?
  }

  /// One relationship.
  struct Link: Sendable {
    let layout: RelationshipLayout
    /// What is read of the targets; nothing where they are rows of a level around this one.
    var level: ExportLevel
    /// How many levels around that of the link has the targets, whose entity stands inside of itself: 0 is the link's
    /// own; nil: none has them.
    var up: Int?
    /// Whether it reads the same targets once more, for their keys, which stand where they are not written whole.
    var isReference = false
    /// The tree that has it.
    let tree: Int
    /// Whether it is not written, because something else holds it.
    var isShadowed = false
    /// Whether of its targets keys are written and nothing else: those that nobody has yet are written, too.
    var isByKey = false
    /// How it is written, where that is not at all: reading makes its key of the owner.
    var unwritten: ExportLink?
  }

  /// A relationship that is not written, and that an import of the record changes.
  struct MissedLink: Sendable {
    let layout: RelationshipLayout
    /// What happens to it, as a sentence.
    let loss: String
    /// Whether it leads back to the object around, to which an import links the object again.
    let isWayBack: Bool
    /// What an import does to it.
    let fate: ExportPlanner.Fate
  }

  /// A part of the key by which objects are named: an attribute, or a to-one, of whose target the key is given.
  struct KeyPart: Sendable {
    /// The name of the attribute or to-one.
    let name: String
    /// The attribute whose value is given.
    let attribute: Attribute
    /// The entity that has it.
    let entity: String
    /// The names that lead to it.
    var steps: [String]
    var place: KeyPlace
  }

  /// Where a row has the value of a part of its key.
  struct KeyPlace: Sendable {
    /// The row's column; of a to-one only references that wait have the value there, as they lead to nobody.
    var column: Int
    /// The to-ones that lead to the value, each by its place among the links of its level.
    var links: [Int] = []
    /// The column of who they lead to.
    var last = 0
  }

  /// A part of the key that rows are named by.
  func key(named name: String) -> KeyPart? { keys.first { hasSameBytes($0.name, name) } }

  /// Whether something of it is not written, here or further inside.
  var hasShadows: Bool {
    trees.contains { !$0.shadowed.isEmpty || $0.hidesEntity }
      || links.contains { $0.isShadowed || $0.level.hasShadows }
  }

  /// Whether an entity stands inside of itself, here or further inside.
  var nestsItself: Bool { links.contains { $0.up != nil || $0.level.nestsItself } }

  /// The tree that is being filled.
  var tree: Int { trees.count - 1 }

  /// Begins the tree of a sub-entity.
  mutating func addTree() { trees.append(Tree()) }

  /// Takes note that the word of the tree's entity stands inside of something else.
  mutating func hideEntity() { trees[tree].hidesEntity = true }

  /// The place of an attribute that is written.
  mutating func attribute(_ attribute: Attribute) -> Int {
    let column = column(of: attribute)
    if !trees[tree].attributes.contains(column) { trees[tree].attributes.append(column) }
    return column
  }

  /// The place of an attribute that is not written, because something else holds it.
  mutating func shadow(_ stored: Attribute) -> Int {
    let column = attribute(stored)
    trees[tree].shadowed.append(column)
    return column
  }

  /// The place of an attribute among the columns; it is added where it is not among them.
  mutating func column(of attribute: Attribute) -> Int {
    if let known = columns.firstIndex(where: { hasSameBytes($0.column, attribute.column) }) {
      return known
    }
    columns.append(attribute)
    return columns.count - 1
  }
}

/// How one relationship is written.
struct ExportLink: Sendable {
  let isToMany: Bool
  /// Parts of the target's key that are not written, because reading takes them from the owner: what must be
  /// equal to its columns.
  var shared: [(owner: Int, target: ExportLevel.KeyPlace)] = []
  /// Parts of the target's key for which the map has a value of its own.
  var constants: [(target: ExportLevel.KeyPlace, value: StoredValue)] = []
  /// The parts of the targets' keys that are written.
  var keys: [ExportLevel.KeyPlace] = []
  /// The key that reading makes of the owner alone; nil where something of it is written.
  var ownKey: OwnKey?
  /// The slot by which messages name it; nil: that of its place.
  var slot: Int?
  /// XML: whether the element around the targets is written where there are none, as it tells that
  /// the list is empty.
  var hasWrapper = false
  /// Whether reading rejects a record that says nothing of it.
  var refusesMissing = false
  /// Whether reading rejects a record that says that there is no target.
  var refusesNull = false
  /// Whether null is written where there is no target: reading rejects what is missing.
  var needsNull: Bool { refusesMissing && !refusesNull }
  /// Of targets inside of others of their own entity: what stands where one is not written whole; nil: all are.
  var cut: Cut?

  /// What stands for a target that is not written whole.
  struct Cut {
    /// What the relationship is called in messages.
    let name: String
    /// The place of the link by which the keys are read, in the level; nil: there is no key, and nothing is written.
    var reference: Int?
    /// The relationships that an import of the key alone changes, with what it does.
    var missed: [[UInt8]: ExportPlanner.Fate] = [:]

    /// Whether an import of the key changes nothing.
    var isHarmless: Bool { reference != nil && missed.isEmpty }
  }

  /// A key that is not written, because reading takes it from the owner and from the map.
  struct OwnKey: Sendable {
    /// The entity of the target.
    let entity: String
    /// The ways to its attributes, with the owner's columns.
    var columns: [(steps: [String], owner: Int)] = []
    /// The ways to its attributes, with the map's values.
    var constants: [(steps: [String], value: StoredValue)] = []
    /// What becomes of a key that nobody has.
    let onUnresolved: UnresolvedPolicy
  }
}

import DragomanGraph

extension ExportTree {
  /// Collects paths and makes the tree.
  ///
  /// Large because places of a tree that is not made yet are private to it.
  struct Builder {
    private struct Place {
      var role: Role?
      var slot = -1
      var link = LinkPlace.none
      var context = -1
      /// The places that stand here instead, each with a context that excludes the others.
      var substitutes: [Int] = []
      var variants: [Int] = []
      var name: Name
      var isNamed = false
      var nameSlot = -1
      var isTextOnly = false
      var children: [Int] = []
      /// Of a to-one: the place of what its owner has in it; -1: nothing.
      var beside = -1
      /// The place whose members it has, too: that of targets of the same entity around it; -1: none.
      var model = -1
      /// The place of a target that is not written whole; -1: none.
      var reference = -1
      /// Arrays: the element's place.
      var index = 0

      /// Whether what stands below it is no part of its record.
      var isEnd: Bool { link.local >= 0 || context >= 0 }
    }

    /// A relationship: its place among the links of its level, and among all of the export.
    struct LinkPlace {
      var local: Int
      var plan: Int

      static let none = LinkPlace(local: -1, plan: -1)
    }

    /// Why a value has no place.
    enum Obstacle: Error {
      /// Another value stands there already.
      case taken(slot: Int)
      /// An object would have to be an array or a value, or to hold what belongs to another record.
      case shape
    }

    private let isXML: Bool
    private var places: [Place]
    private(set) var embedded: [Embedded] = []

    /// Begins a tree whose place 0 is the record.
    ///
    /// - Parameters:
    ///   - record: The record's name; empty where it differs.
    ///   - isNamed: Whether it does.
    ///   - isXML: Whether the format is XML.
    init(record: Name, isNamed: Bool = false, isXML: Bool) {
      self.isXML = isXML
      places = [Place(role: isXML ? .object : nil, name: record, isNamed: isNamed)]
    }

    /// Begins the tree of a sub-entity.
    ///
    /// - Parameters:
    ///   - place: Where its records or targets stand.
    ///   - record: The name of its records, at the top; nil: as that of the others.
    /// - Returns: The place of such a record or target.
    mutating func addVariant(of place: Int, record: (name: Name, isNamed: Bool)? = nil) -> Int {
      var variant = Place(
        role: isXML && place == 0 ? .object : nil,
        name: record?.name ?? places[place].name
      )
      variant.isNamed = record?.isNamed ?? places[place].isNamed
      places.append(variant)
      places[place].variants.append(places.count - 1)
      return places.count - 1
    }

    /// Gives targets the members of those around them, which are of the same entity.
    ///
    /// - Parameters:
    ///   - place: The place of a target.
    ///   - model: The place of a target around it.
    mutating func nest(_ place: Int, as model: Int) {
      places[place].role = .object
      places[place].model = model
    }

    /// Begins what is written of a target that is not written whole.
    ///
    /// - Parameter place: The place of a target.
    /// - Returns: What stands there instead.
    mutating func addReference(to place: Int) -> Int {
      places.append(Place(name: places[place].name, isNamed: places[place].isNamed))
      places[place].reference = places.count - 1
      return places.count - 1
    }

    /// Takes note of a to-one whose target's members stand among those of its owner.
    ///
    /// - Returns: What its members name as their context.
    mutating func embed(_ link: Int, of context: Int) -> Int {
      embedded.append(Embedded(parent: context, link: link, tree: 0))
      return embedded.count - 1
    }

    /// Takes note of the targets of such a to-one that are of a sub-entity.
    ///
    /// - Parameters:
    ///   - context: The context of those that are not.
    ///   - tree: By which of the trees at the targets' level they are written.
    /// - Returns: What their members name as their context.
    mutating func embed(_ context: Int, tree: Int) -> Int {
      let first = embedded[context]
      embedded.append(Embedded(parent: first.parent, link: first.link, tree: tree))
      return embedded.count - 1
    }

    /// The value that stands in a place; nil where there is none.
    func slot(at steps: [ForeignPath.Step], from base: Int, of context: Int) -> Int? {
      var copy = self
      guard let place = try? copy.insert(steps, at: base, of: context).place, place < places.count,
        places[place].slot >= 0, places[place].link.local < 0
      else { return nil }
      return places[place].slot
    }

    /// Gives a value its place below another one; the tree stays as it was where there is none.
    ///
    /// - Parameters:
    ///   - steps: The way to the value.
    ///   - base: The place of the record that the value belongs to.
    ///   - slot: The attribute.
    ///   - link: A to-one of that record, where the value belongs to its target.
    ///   - context: Whose value it is, where a target's members stand among those of the record.
    /// - Throws: Why there is no place.
    mutating func add(
      _ steps: [ForeignPath.Step],
      at base: Int,
      slot: Int,
      link: LinkPlace = .none,
      of context: Int = -1
    ) throws(Obstacle) {
      let before = places
      do throws(Obstacle) {
        let (place, isTextOnly) = try insert(steps, at: base, of: context)
        guard places[place].slot < 0 else { throw .taken(slot: places[place].slot) }
        switch places[place].role {
        case nil: places[place].role = .value
        case .attribute: break
        case .object where isXML && link.local < 0 && context < 0: break
        default: throw .shape
        }
        places[place].slot = slot
        if link.local >= 0 { places[place].link = link }
        if context >= 0 { places[place].context = context }
        places[place].isTextOnly = isTextOnly
      } catch {
        places = before
        throw error
      }
    }

    /// Gives a value its place among the members of a to-one's target, which does not have such a
    /// member itself.
    ///
    /// - Parameters:
    ///   - steps: The way to the value, through the target.
    ///   - base: The place of the record that the value belongs to.
    ///   - slot: The attribute.
    ///   - context: Whose value it is, where a target's members stand among those of the record.
    /// - Throws: Why there is no place.
    mutating func add(
      _ steps: [ForeignPath.Step],
      besideTargetAt base: Int,
      slot: Int,
      of context: Int
    ) throws(Obstacle) {
      var place = base
      for (index, step) in steps.enumerated() {
        guard case .member(let local, let namespace) = step else { break }
        let name = Name(local: local, namespace: namespace ?? "")
        let model = places[place].model
        let known = places[model < 0 ? place : model].children.first {
          places[$0].name == name && places[$0].role != .attribute
        }
        guard place == base || !places[place].isEnd else {
          guard known == nil, places[place].role == .object else { break }
          if places[place].beside < 0 {
            places[place].beside = places.count
            places.append(Place(role: .object, name: Name(local: "")))
          }
          guard places[place].context == context else { break }
          return try add(Array(steps[index...]), at: places[place].beside, slot: slot)
        }
        guard let known else { break }
        place = known
      }
      throw .shape
    }

    /// Names a record, or the targets of a relationship, by the value of an attribute.
    ///
    /// - Parameters:
    ///   - base: The place of the record or target.
    ///   - slot: The attribute.
    mutating func setName(at base: Int, slot: Int) {
      places[base].nameSlot = slot
    }

    /// How the targets of a relationship stand together.
    enum Arrangement {
      /// In the place itself: one target, or a repeated XML element.
      case plain
      /// In a JSON array.
      case list
      /// Under a name each, in a JSON object or an XML element.
      case dictionary
    }

    /// Gives the targets of a relationship their place.
    ///
    /// - Parameters:
    ///   - steps: The way to the target, or to the list of targets.
    ///   - base: The place of the record that is linked.
    ///   - link: The relationship.
    ///   - arrangement: How the targets stand there.
    ///   - context: Whose relationship it is, where a target's members stand among those of the record.
    /// - Returns: The place of a target.
    /// - Throws: Why there is no place.
    mutating func link(
      _ steps: [ForeignPath.Step],
      at base: Int,
      _ link: LinkPlace,
      _ arrangement: Arrangement,
      of context: Int = -1
    ) throws(Obstacle) -> Int {
      let before = places
      do throws(Obstacle) {
        let (place, isTextOnly) = try insert(steps, at: base, of: context)
        if isXML, arrangement == .dictionary {
          // The elements that are not named otherwise.
          guard !isTextOnly, !hasElementValues(place) else { throw .shape }
          let target = try child(of: place, Name(local: ""), nil)
          guard !places[target].isEnd else { throw .shape }
          places[target].link = link
          places[target].context = context
          places[target].isNamed = true
          return target
        }
        guard place != base, !isTextOnly, places[place].role == nil, !places[place].isEnd else {
          throw .shape
        }
        places[place].link = link
        places[place].context = context
        guard arrangement != .plain else { return place }
        places[place].role = arrangement == .list ? .list : .dictionary
        let isNamed = arrangement == .dictionary
        places.append(Place(role: nil, name: Name(local: ""), isNamed: isNamed))
        places[place].children.append(places.count - 1)
        return places.count - 1
      } catch {
        places = before
        throw error
      }
    }

    /// Whether elements in a place hold values of its own record: whoever reads elements of any name
    /// there would take them for targets.
    private func hasElementValues(_ place: Int) -> Bool {
      places[place].children.contains { places[$0].role != .attribute && hasValue($0) }
    }

    private func hasValue(_ place: Int) -> Bool {
      guard !places[place].isEnd else { return false }
      return places[place].slot >= 0 || places[place].children.contains { hasValue($0) }
    }

    /// The places from a record down to a value; they are made where they are missing.
    private mutating func insert(
      _ steps: [ForeignPath.Step],
      at base: Int,
      of context: Int
    ) throws(Obstacle) -> (place: Int, isTextOnly: Bool) {
      var place = base
      var isTextOnly = false
      for step in steps {
        // What stands below a link belongs to its target.
        guard place == base || !places[place].isEnd else { throw .shape }
        switch step {
        case .member(let name, let namespace):
          place = try child(of: place, Name(local: name, namespace: namespace ?? ""), nil)
        case .attribute(let name, let namespace):
          place = try child(of: place, Name(local: name, namespace: namespace ?? ""), .attribute)
        case .index(let index): place = try element(of: place, index)
        case .text: isTextOnly = true
        case .all, .anyMember, .having: throw .shape
        }
      }
      if place != base, places[place].isEnd { place = try substitute(for: place, of: context) }
      return (place, isTextOnly)
    }

    /// The place that stands instead of another one where a target is of the context's entity.
    private mutating func substitute(for place: Int, of context: Int) throws(Obstacle) -> Int {
      let known = [place] + places[place].substitutes
      if let own = known.first(where: { places[$0].context == context && places[$0].slot >= 0 }) {
        return own
      }
      guard known.allSatisfy({ excludes(places[$0].context, context) }) else { throw .shape }
      let role: Role? = places[place].role == .attribute ? .attribute : nil
      places.append(Place(role: role, name: places[place].name, index: places[place].index))
      places[place].substitutes.append(places.count - 1)
      return places.count - 1
    }

    /// Whether no record has targets of both contexts: they part at one to-one, by its target's entity.
    private func excludes(_ one: Int, _ other: Int) -> Bool {
      for (a, b) in zip(way(to: one), way(to: other)) {
        guard a.link == b.link else { return false }
        if a.tree != b.tree { return true }
      }
      return false
    }

    /// The to-ones that lead to a context, from the record on.
    private func way(to context: Int) -> [Embedded] {
      var way: [Embedded] = []
      var context = context
      while context >= 0 {
        way.append(embedded[context])
        context = embedded[context].parent
      }
      return way.reversed()
    }

    private mutating func child(
      of place: Int,
      _ name: Name,
      _ role: Role?
    ) throws(Obstacle) -> Int {
      switch places[place].role {
      case nil: places[place].role = .object
      case .object: break
      case .value where isXML: places[place].role = .object
      default: throw .shape
      }
      let known = places[place].children.first {
        places[$0].name == name && (places[$0].role == .attribute) == (role == .attribute)
      }
      if let known { return known }
      places.append(Place(role: role, name: name))
      places[place].children.append(places.count - 1)
      return places.count - 1
    }

    private mutating func element(of place: Int, _ index: Int) throws(Obstacle) -> Int {
      // Every place before the index is written as null.
      guard 0...Self.maximumHoleCount ~= index else { throw .shape }
      switch places[place].role {
      case nil: places[place].role = .array
      case .array: break
      default: throw .shape
      }
      if let known = places[place].children.first(where: { places[$0].index == index }) {
        return known
      }
      places.append(Place(role: nil, name: Name(local: ""), index: index))
      places[place].children.append(places.count - 1)
      return places.count - 1
    }

    /// The longest array whose holes are written.
    static var maximumHoleCount: Int { 10_000 }

    /// The tree of all values added.
    ///
    /// - Parameter isTable: Whether all records have the same members, as lines of CSV have.
    /// - Returns: The tree.
    func build(isTable: Bool = false) -> ExportTree {
      var builder = self
      if isTable { builder.align() }
      builder.addModels()
      return ExportTree(builder)
    }

    /// Gives targets that are written as others the trees of the same sub-entities.
    private mutating func addModels() {
      for place in places.indices where places[place].model >= 0 {
        for variant in places[places[place].model].variants {
          let own = addVariant(of: place)
          nest(own, as: variant)
        }
      }
    }

    /// Gives all trees of records the same members: those that one does not have are left empty.
    private mutating func align() {
      let records = [0] + places[0].variants
      var names: [Name] = []
      for place in records.flatMap({ places[$0].children })
      where !names.contains(places[place].name) {
        names.append(places[place].name)
      }
      for record in records {
        let own = places[record].children
        places[record].children = names.map { name in
          if let known = own.first(where: { places[$0].name == name }) { return known }
          places.append(Place(role: .hole, name: name))
          return places.count - 1
        }
      }
    }

    func node(_ place: Int, name: Int32) -> (node: Node, children: [Int]) {
      let place = places[place]
      var children = place.children
      if place.role == .array { children.sort { places[$0].index < places[$1].index } }
      // Attributes stand in the start tag.
      if isXML {
        children =
          children.filter { places[$0].role == .attribute }
          + children.filter { places[$0].role != .attribute }
      }
      let node = Node(
        role: place.role ?? .object,
        slot: Int32(place.slot),
        link: Int32(place.link.local),
        linkPlan: Int32(place.link.plan),
        context: Int32(place.context),
        name: name,
        isNamed: place.isNamed,
        nameSlot: Int32(place.nameSlot),
        isTextOnly: place.isTextOnly
      )
      return (node, children)
    }

    func name(_ place: Int) -> Name { places[place].name }
    func beside(_ place: Int) -> Int { places[place].beside }
    func reference(_ place: Int) -> Int { places[place].reference }
    /// The place whose members it has, too; nil: none.
    func model(of place: Int) -> Int? { places[place].model < 0 ? nil : places[place].model }
    func index(_ place: Int) -> Int { places[place].index }
    func variants(_ place: Int) -> [Int] { places[place].variants }
    func substitutes(_ place: Int) -> [Int] { places[place].substitutes }
  }
}

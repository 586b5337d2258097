import DragomanGraph

/// Relationships: what stands below them belongs to other rows.
extension RecordWriter {
  /// Writes the targets of a relationship.
  mutating func linked<Row: ExportRow & ~Copyable>(
    _ index: Int,
    _ node: ExportTree.Node,
    _ row: borrowing Row
  ) -> Written {
    let targets = row.targets(Int(node.link))
    let link = plan.links[Int(node.linkPlan)]
    var written: Written = []
    if let split = split(node) { return joined(index, node, targets, split, link, row) }
    let element = node.isCollection ? Int(tree.order[Int(node.start)]) : index
    if node.isCollection { _ = encoder.open(index, node.role) }
    // In XML elements may repeat.
    let isUnique = node.role == .dictionary
    var names: Set<[UInt8]> = []
    for place in targets.rows {
      guard var target = targets.batch?[place] else { break }
      var element = element
      if let cut = link.cut, !isWhole(target, cut, tree.nodes[element], link) {
        let number = place - targets.rows.lowerBound
        let node = tree.nodes[element]
        guard let key = reference(to: target, number: number, of: cut, at: node, row) else {
          continue
        }
        element = Int(node.reference)
        target = key
      } else if nestsItself, isTooDeep(tree.nodes[element]) {
        note(.depth, link.slot ?? 0)
      }
      let kind = target.kind
      element = kind == 0 ? element : variant(of: element, target.batch.level.kinds[kind])
      if tree.nodes[element].isNamed {
        let number = place - targets.rows.lowerBound + 1
        let used = name(element, tree.nodes[element], target, number: number)
        let slot = Int(tree.nodes[element].nameSlot)
        if isUnique, slot >= 0, !names.insert(used).inserted { note(.name, slot) }
      }
      check(target, of: link, row)
      if nestsItself { nesting.enter(target) }
      written.formUnion(
        single(
          element,
          tree.nodes[element],
          target,
          beside: row,
          isInList: node.isCollection,
          isRepeated: link.isToMany && link.keys.isEmpty && plan.format == .xml
        )
      )
      if nestsItself { nesting.leave() }
    }
    if node.isCollection {
      encoder.close(index, node.role)
      return .members
    }
    if !targets.rows.isEmpty { return written }
    if link.isToMany, link.hasWrapper { return .members }
    return nobody(index, node, link)
  }

  /// How the keys of all targets are told apart, where they stand in one text.
  private func split(_ node: ExportTree.Node) -> LinkPlan.KeyPart.Split? {
    node.slot < 0 ? nil : plan.slots[Int(node.slot)].split
  }

  /// Says that there is no target, as far as that is to be said.
  private mutating func nobody(
    _ index: Int,
    _ node: ExportTree.Node,
    _ link: ExportLink
  ) -> Written {
    // A row has a cell in any case, and elements that may repeat are not there, or one of them is null.
    let isCell = plan.format == .csv
    let isOne = !link.isToMany || split(node) != nil
    let isList =
      writesNulls && plan.format == .xml && !node.isTextOnly && !node.isNamed
      && link.keys.count < 2
    let mayBeNull = isCell || !link.refusesNull && (isOne || isList)
    let isWritten = mayBeNull && (isCell || writesNulls || link.needsNull)
    if let slot = link.slot, !isWritten, !link.refusesNull { loseNull(slot) }
    if let slot = link.slot, isWritten ? link.refusesNull : link.refusesMissing {
      note(.null, slot)
    }
    guard isWritten else { return [] }
    // An empty attribute names nobody.
    encoder.null(index, node.role == .attribute ? .attribute : .value)
    return node.role == .attribute ? .attributes : .members
  }

  /// Looks whether reading comes to a target by the key that it finds.
  private mutating func check<Row: ExportRow & ~Copyable>(
    _ target: RowBatch.Row,
    of link: ExportLink,
    _ row: borrowing Row
  ) {
    guard let slot = link.slot else { return }
    for (own, theirs) in link.shared where !row.column(own).equals(theirs.value(in: target)) {
      note(.link, slot)
    }
    for (theirs, value) in link.constants where !theirs.value(in: target).equals(value) {
      note(.link, slot)
    }
    for key in link.keys where !key.value(in: target).namesSomebody { note(.key, slot) }
  }

  /// Looks at the links of a row that are not written, because reading makes their keys of the owner.
  mutating func checkUnwritten<Row: ExportRow & ~Copyable>(
    _ row: borrowing Row,
    _ level: ExportLevel
  ) {
    for place in level.links.indices {
      guard let link = level.links[place].unwritten, let slot = link.slot, let key = link.ownKey,
        level.kinds.isEmpty || level.kinds[row.kind(in: level)].tree == level.links[place].tree
      else { continue }
      let targets = row.targets(place)
      if targets.rows.isEmpty, leads(key, row) { note(.unlinked, slot) }
      for index in targets.rows {
        if let target = targets.batch?[index] { check(target, of: link, row) }
      }
    }
  }

  /// The same of the targets whose members stand among those of the record.
  mutating func checkEmbedded<Row: ExportRow & ~Copyable>(_ row: borrowing Row) {
    for context in tree.embedded.indices {
      if case .row(let target) = target(context, row) {
        checkUnwritten(target, target.batch.level)
      }
    }
  }

  /// Whether reading makes a link of what the owner has, where there is none.
  private func leads<Row: ExportRow & ~Copyable>(
    _ key: ExportLink.OwnKey,
    _ row: borrowing Row
  ) -> Bool {
    guard let hasObject else { return false }
    var parts: [Filter] = []
    for (steps, value) in key.constants { parts.append(Filter(steps, equals: value)) }
    for (steps, column) in key.columns {
      guard row.column(column).namesSomebody else { return false }
      parts.append(Filter(steps, equals: row.column(column).stored))
    }
    // An object is made of what nobody has, or the record is refused.
    if key.onUnresolved == .stub || key.onUnresolved == .reject { return true }
    // Where nobody can tell, it may be so.
    return (try? hasObject(FetchRequest(key.entity, filter: .and(parts), limit: 1))) ?? true
  }

  /// Writes what belongs to the target of a to-one whose members stand among those of the record.
  mutating func embedded<Row: ExportRow & ~Copyable>(
    _ index: Int,
    _ node: ExportTree.Node,
    _ row: borrowing Row
  ) -> Written {
    switch target(Int(node.context), row) {
    case .row(let target): return embedded(index, node, target: target)
    case .none:
      guard writesNulls, node.role != .attribute else { return [] }
      encoder.null(index, .value)
      return .members
    case .other:
      for place in 0..<Int(node.substituteCount) {
        let index = Int(tree.variants[Int(node.firstSubstitute) + place])
        let node = tree.nodes[index]
        if case .row(let target) = target(Int(node.context), row) {
          return embedded(index, node, target: target)
        }
      }
      // A row has a cell in any case.
      if plan.format == .csv { encoder.null(index, .value) }
      return []
    }
  }

  private mutating func embedded(
    _ index: Int,
    _ node: ExportTree.Node,
    target: RowBatch.Row
  ) -> Written {
    if target.kind > 0 { note(target.batch.level.kinds[target.kind]) }
    if node.link >= 0 { return linked(index, node, target) }
    guard value(index, node, target) else { return [] }
    return node.role == .attribute ? .attributes : .members
  }

  /// Where a to-one leads whose target's members stand among those of the record.
  private enum EmbeddedTarget {
    case row(RowBatch.Row)
    /// To an object that is written by another tree.
    case other
    case none
  }

  private func target<Row: ExportRow & ~Copyable>(
    _ context: Int,
    _ row: borrowing Row
  ) -> EmbeddedTarget {
    let embedded = tree.embedded[context]
    let targets: RowBatch.Targets
    if embedded.parent >= 0 {
      switch target(embedded.parent, row) {
      case .row(let owner): targets = owner.targets(embedded.link)
      case .other: return .other
      case .none: return .none
      }
    } else {
      targets = row.targets(embedded.link)
    }
    guard let found = targets.first else { return .none }
    let kinds = found.batch.level.kinds
    let own = kinds.isEmpty ? 0 : kinds[found.kind].tree
    return own == embedded.tree ? .row(found) : .other
  }

  /// Writes the name of a record or target, from one of its attributes or made up.
  ///
  /// - Returns: The name.
  @discardableResult
  mutating func name<Row: ExportRow & ~Copyable>(
    _ index: Int,
    _ node: ExportTree.Node,
    _ row: borrowing Row,
    number: Int
  ) -> [UInt8] {
    let slot = Int(node.nameSlot)
    var name = Array((plan.format == .xml ? "item" : String(number)).utf8)
    // Where values are masked names must still differ.
    if let given = slot < 0 ? nil : valueByClosure(slot, row) {
      if let text = given.string ?? given.int64.map(String.init) {
        name = Array(text.utf8)
      } else {
        note(.name, slot)
      }
    } else if slot >= 0, !plan.slots[slot].isMasked {
      switch token(of: slot, row) {
      case .text(let bytes), .word(let bytes), .literal(let bytes), .json(let bytes):
        name = Array(bytes)
      case .null, .fault: note(.name, slot)
      }
    }
    name.withUnsafeBytes { note(encoder.name(index, $0), slot) }
    return name
  }

  /// Writes one target, and what its owner has in the same place.
  ///
  /// - Parameters:
  ///   - index: The number of the target's node.
  ///   - node: The node.
  ///   - target: The target.
  ///   - owner: Its owner.
  ///   - isInList: Whether it stands in a JSON array or object.
  ///   - isRepeated: Whether it is one of the elements of an XML list.
  /// - Returns: What was written.
  private mutating func single<Row: ExportRow & ~Copyable>(
    _ index: Int,
    _ node: ExportTree.Node,
    _ target: RowBatch.Row,
    beside owner: borrowing Row,
    isInList: Bool,
    isRepeated: Bool
  ) -> Written {
    switch node.role {
    case .value, .attribute:
      if isNull(Int(node.slot), target) {
        if isRepeated, !node.isNamed { return emptyElement(index, node) }
        // Where a target is its value, null is no target; but a name is one.
        if isInList || !node.isNamed { note(.null, Int(node.slot)) }
      }
      if value(index, node, target) { return node.role == .value ? .members : .attributes }
      if isInList { encoder.null(index, .value) }
      if node.isNamed, !isInList { return nameAlone(index, node) }
      return isInList ? .members : []
    case .object, .array, .list, .dictionary, .hole:
      _ = encoder.open(index, node.role)
      if node.role == .array {
        _ = elements(of: node, target)
      } else {
        _ = container(node, target, isRecord: true)
      }
      checkUnwritten(target, target.batch.level)
      if node.beside >= 0 { _ = container(tree.nodes[Int(node.beside)], owner) }
      finish(target, inside: owner.primaryKey)
      encoder.close(index, node.role)
      return .members
    }
  }

  /// Writes an element of an XML list, which is a target although its value is null.
  private mutating func emptyElement(_ index: Int, _ node: ExportTree.Node) -> Written {
    let nulls = plan.slots[Int(node.slot)].nulls
    if node.isTextOnly ? nulls.isLost : !nulls.isTaken { note(.null, Int(node.slot)) }
    return nameAlone(index, node)
  }

  /// Writes an XML element for its name, which is a value although the text is null.
  private mutating func nameAlone(_ index: Int, _ node: ExportTree.Node) -> Written {
    let slot = Int(node.slot)
    if !node.isTextOnly, !plan.slots[slot].speller.readsEmptyAsNull { note(.null, slot) }
    _ = encoder.open(index, node.role)
    encoder.close(index, node.role)
    return .members
  }

  /// Writes the keys of all targets in one text.
  private mutating func joined<Row: ExportRow & ~Copyable>(
    _ index: Int,
    _ node: ExportTree.Node,
    _ targets: RowBatch.Targets,
    _ split: LinkPlan.KeyPart.Split,
    _ link: ExportLink,
    _ row: borrowing Row
  ) -> Written {
    let text = ExportBuffer(capacity: 256)
    let slot = Int(node.slot)
    var keys: [Range<Int>] = []
    for place in targets.rows {
      guard let target = targets.batch?[place] else { break }
      check(target, of: link, row)
      if !keys.isEmpty { text.append(split.separator) }
      let start = text.count
      switch token(of: slot, target) {
      case .text(let bytes), .word(let bytes), .literal(let bytes), .json(let bytes):
        text.append(bytes)
      case .null, .fault: break
      }
      keys.append(start..<text.count)
    }
    // Reading has to find the same keys at the same places.
    if !split.pieces(of: text.bytes).elementsEqual(keys) { note(.link, link.slot ?? slot) }
    // An empty text is a list of no keys.
    if targets.rows.isEmpty { return nobody(index, node, link) }
    note(encoder.value(index, node.role, .text(text.bytes)), slot)
    return node.role == .attribute ? .attributes : .members
  }
}

extension Filter {
  /// The filter that a value is found at the end of a way.
  init(_ steps: [String], equals value: StoredValue) {
    let path = Operand.path(FilterPath(steps: steps))
    self = .comparison(Comparison(path, .equalTo, .value(FilterValue(value))))
  }
}

extension ColumnValue {
  /// Whether a key with this value leads to somebody: null and the empty text do not.
  fileprivate var namesSomebody: Bool {
    switch self {
    case .null: false
    case .text(let bytes): !bytes.isEmpty
    case .integer, .real, .blob: true
    }
  }

  /// A copy of the value.
  var stored: StoredValue {
    switch self {
    case .null: .null
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    case .blob(let bytes): .blob(Array(bytes))
    }
  }

  /// Whether two values are the same, byte for byte; null equals nothing.
  fileprivate func equals(_ other: ColumnValue) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)), (.blob(let a), .blob(let b)): a.elementsEqual(b)
    default: false
    }
  }

  /// Whether it is a value of a map, byte for byte; null equals nothing.
  fileprivate func equals(_ other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)): a.elementsEqual(b.utf8)
    case (.blob(let a), .blob(let b)): a.elementsEqual(b)
    default: false
    }
  }
}

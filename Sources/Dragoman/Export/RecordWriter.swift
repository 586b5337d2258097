import DragomanGraph

/// Writes the records of an export: walks the tree once a record, spells each value, and hands it to
/// the format's encoder.
///
/// Large because the state of a record that is half written is spread over nothing else.
struct RecordWriter<Encoder: RecordEncoder> {
  /// What a place in a record got.
  struct Written: OptionSet {
    let rawValue: UInt8
    /// XML attributes.
    static var attributes: Written { Written(rawValue: 1) }
    /// Members or child elements.
    static var members: Written { Written(rawValue: 2) }
  }

  let plan: ExportPlan
  let tree: ExportTree
  private let scratch = ExportBuffer(capacity: 4096)
  /// Whether nulls are written that come back without it, too: not beside a text that would be none then.
  private(set) var writesNulls: Bool
  var encoder: Encoder
  private let mask = Array(ForeignText.mask.utf8)
  /// How many records were written; only counted where they have names.
  private var recordNumber = 0

  /// What is wrong with the record at hand, an attribute once.
  var faults: [(slot: Int, fault: SpellingFault)] = []
  /// What was passed over, by attribute.
  var issues: [ExportReport.Issue] = []
  /// What was written and does not come back as what it is, or not at all, each a sentence.
  var losses: [String] = []
  /// The slots whose nulls were told as losses.
  var lostNulls: Set<Int> = []
  /// Which objects are written whole where an entity stands inside of itself.
  var nesting = NestedObjects()
  /// How many objects, arrays and elements are open around the record.
  private(set) var outerDepth = 0
  /// Whether an entity stands inside of itself.
  let nestsItself: Bool

  private let proof: ExportProof?
  /// Whether an object has a key; nil where nobody knows.
  let hasObject: ((FetchRequest) throws -> Bool)?
  /// Runs closures and hooks of mappers; nil where there are no live objects.
  let code: ExportCode?

  init(
    _ plan: ExportPlan,
    _ encoder: Encoder,
    proof: ExportProof? = nil,
    hasObject: ((FetchRequest) throws -> Bool)? = nil,
    code: ExportCode? = nil
  ) {
    self.plan = plan
    self.proof = proof
    self.hasObject = hasObject
    self.code = code
    self.encoder = encoder
    tree = plan.tree
    nestsItself = plan.level.nestsItself
    writesNulls = plan.writesNulls
  }

  /// Writes what stands before the first record.
  mutating func begin() { encoder.begin() }
  /// Writes what stands behind the last record.
  mutating func end() { encoder.end() }

  /// Writes one record.
  ///
  /// - Throws: `.value`, unless the export is lossy.
  mutating func write<Row: ExportRow & ~Copyable>(_ row: borrowing Row) throws(ExportError) {
    encoder.beginRecord()
    outerDepth = plan.format == .xml ? 0 : encoder.depth
    if nestsItself { nesting.begin(row, plan.level) }
    let kind = row.kind(in: plan.level)
    let index = kind == 0 ? 0 : variant(of: 0, plan.level.kinds[kind])
    let root = tree.nodes[index]
    if root.isNamed {
      recordNumber += 1
      name(index, root, row, number: recordNumber)
    }
    if root.role == .value {
      if let given = valueByClosure(Int(root.slot), row) {
        encoder.content(given)
      } else {
        note(encoder.content(token(of: Int(root.slot), row)), Int(root.slot))
      }
    } else {
      _ = encoder.open(index, root.role)
      if root.role == .array {
        _ = elements(of: root, row)
      } else {
        _ = container(root, row, isRecord: true)
      }
      encoder.close(index, root.role)
    }
    encoder.endRecord()
    checkUnwritten(row, plan.level)
    checkEmbedded(row)
    if let proof, faults.isEmpty || plan.isLossy {
      for (slot, fault) in proof.differences(row) {
        if fault == .overlap {
          count(fault, slot, row)
        } else if !faults.contains(where: { isSameAttribute($0.slot, slot) }) {
          note(fault, slot)
        }
      }
    }
    if !faults.isEmpty { try settle(row) }
  }

  // MARK: - The walk

  /// The node by which an object of a sub-entity is written.
  mutating func variant(of node: Int, _ kind: ExportLevel.Kind) -> Int {
    note(kind)
    return tree.variant(of: node, kind.tree)
  }

  /// Takes note of an object that does not come back as what it is.
  mutating func note(_ kind: ExportLevel.Kind) {
    if let loss = kind.loss { lose(loss) }
  }

  /// Writes what belongs into an open object or element.
  @inline(__always)
  mutating func container<Row: ExportRow & ~Copyable>(
    _ node: ExportTree.Node,
    _ row: borrowing Row,
    isRecord: Bool = false
  ) -> Written {
    if node.slot < 0 { return members(Int(node.start)..<Int(node.end), row) }
    return mixed(node, row, isRecord: isRecord)
  }

  private mutating func members<Row: ExportRow & ~Copyable>(
    _ range: Range<Int>,
    _ row: borrowing Row
  ) -> Written {
    var written: Written = []
    for place in range {
      let index = Int(tree.order[place])
      let node = tree.nodes[index]
      if node.context >= 0 {
        written.formUnion(embedded(index, node, row))
        continue
      }
      if node.link >= 0 {
        written.formUnion(linked(index, node, row))
        continue
      }
      switch node.role {
      case .value:
        if value(index, node, row) { written.insert(.members) }
      case .attribute:
        if value(index, node, row) { written.insert(.attributes) }
      case .object where isNil(node, row):
        encoder.null(index, .value)
        written.insert(.members)
      case .object, .array:
        let mark = encoder.open(index, node.role)
        let isEmpty =
          node.role == .array ? !elements(of: node, row) : container(node, row).isEmpty
        if isEmpty {
          encoder.takeBack(index, to: mark)
        } else {
          encoder.close(index, node.role)
          written.insert(.members)
        }
      // A column that other entities have.
      case .hole: encoder.null(index, .value)
      case .list, .dictionary: break
      }
    }
    return written
  }

  /// Writes one value; false where it is null and left out.
  @inline(__always)
  mutating func value<Row: ExportRow & ~Copyable>(
    _ index: Int,
    _ node: ExportTree.Node,
    _ row: borrowing Row
  ) -> Bool {
    let slot = Int(node.slot)
    if code != nil, let given = valueByClosure(slot, row) {
      if given.isNull { return null(index, node) }
      encoder.value(index, given)
      return true
    }
    let token = token(of: slot, row)
    if case .null = token { return null(index, node) }
    if let fault = encoder.value(index, node.role, token) { note(fault, slot) }
    if node.isTextOnly, case .text(let bytes) = token, bytes.isEmpty { note(.empty, slot) }
    return true
  }

  /// Writes all elements of an array; false where all of them are null and may be left out.
  mutating func elements<Row: ExportRow & ~Copyable>(
    of node: ExportTree.Node,
    _ row: borrowing Row
  ) -> Bool {
    var hasValue = false
    for place in Int(node.start)..<Int(node.end) {
      let index = Int(tree.order[place])
      let element = tree.nodes[index]
      if element.link >= 0 || element.context >= 0 {
        let written =
          element.context >= 0 ? embedded(index, element, row) : linked(index, element, row)
        if written.isEmpty {
          encoder.null(index, .value)
        } else {
          hasValue = true
        }
        continue
      }
      switch element.role {
      case .value:
        if value(index, element, row) {
          hasValue = true
        } else {
          encoder.null(index, .value)
        }
      case .object, .array:
        let mark = encoder.open(index, element.role)
        let isEmpty =
          element.role == .array
          ? !elements(of: element, row)
          : container(element, row).isEmpty
        if isEmpty {
          encoder.takeBack(index, to: mark)
          encoder.null(index, .value)
        } else {
          encoder.close(index, element.role)
          hasValue = true
        }
      case .hole, .attribute, .list, .dictionary: encoder.null(index, .value)
      }
    }
    return hasValue
  }

  /// Writes an XML element that has a text of its own, and attributes or child elements.
  private mutating func mixed<Row: ExportRow & ~Copyable>(
    _ node: ExportTree.Node,
    _ row: borrowing Row,
    isRecord: Bool
  ) -> Written {
    let slot = Int(node.slot)
    let children = Int(node.start)..<Int(node.end)
    let split =
      children.first { tree.nodes[Int(tree.order[$0])].role != .attribute } ?? children.upperBound
    var written = members(children.lowerBound..<split, row)
    let token = token(of: slot, row)
    let isNull = if case .null = token { true } else { false }
    var isBlank = isNull
    switch token {
    case .null: break
    case .text(let bytes):
      isBlank = bytes.isBlank
      note(encoder.content(token), slot)
      written.insert(.members)
    default:
      note(encoder.content(token), slot)
      written.insert(.members)
    }
    let before = writesNulls
    // Beside an element, and be it null, a text without letters is none.
    if isBlank, !isNull || !node.isTextOnly { writesNulls = false }
    let elements = members(split..<children.upperBound, row)
    writesNulls = before
    if isNull, node.isTextOnly, plan.slots[slot].nulls.isTaken { loseNull(slot) }
    if isBlank {
      // What reading makes of an element without text: see `ValueConverter`.
      let isNullRead = plan.slots[slot].speller.readsEmptyAsNull && !elements.contains(.members)
      let isEmpty = if case .text(let bytes) = token { bytes.isEmpty } else { false }
      if isNull, !node.isTextOnly, !isNullRead, isRecord || !written.union(elements).isEmpty {
        note(.null, slot)
      } else if isNull, plan.slots[slot].nulls.isLost {
        note(.null, slot)
      } else if !isNull, elements.contains(.members) || (isEmpty && node.isTextOnly) {
        note(.empty, slot)
      }
    }
    return written.union(elements)
  }

  // MARK: - Values

  @inline(__always)
  mutating func token<Row: ExportRow & ~Copyable>(of slot: Int, _ row: borrowing Row)
    -> ValueSpeller.Token
  {
    if let constant = plan.slots[slot].constant {
      scratch.truncate(to: 0)
      scratch.append(constant)
      return .text(scratch.bytes)
    }
    let value: ColumnValue
    if let place = plan.slots[slot].keyPlace {
      value = place.value(in: row)
    } else {
      value = row.column(plan.slots[slot].column)
    }
    if plan.slots[slot].isMasked { return masked(value) }
    let token = plan.slots[slot].speller.spell(value, scratch: scratch)
    if let words = plan.slots[slot].words, !token.tells(words, plan.slots[slot].admitsNull) {
      note(.entity, slot)
    }
    if case .fault(let fault) = token {
      note(fault, slot)
      return raw(value)
    }
    if let word = plan.slots[slot].tombstone, token.tells([word], false) { note(.tombstone, slot) }
    if let rules = plan.slots[slot].rules, rules.check(value) != nil { note(.rule, slot) }
    return token
  }

  private func masked(_ value: ColumnValue) -> ValueSpeller.Token {
    if case .null = value { return .null }
    scratch.truncate(to: 0)
    scratch.append(mask)
    return .text(scratch.bytes)
  }

  /// A value as it is stored, for lack of a spelling.
  private func raw(_ value: ColumnValue) -> ValueSpeller.Token {
    scratch.truncate(to: 0)
    switch value {
    case .null: return .null
    case .integer(let integer):
      scratch.append(decimal: integer)
      return .literal(scratch.bytes)
    case .real(let real):
      scratch.append(real.isFinite ? "\(real)" : real < 0 ? "-Infinity" : "Infinity")
      return real.isFinite ? .literal(scratch.bytes) : .word(scratch.bytes)
    case .text(let bytes): return .text(bytes)
    case .blob(let bytes):
      scratch.append(base64: bytes)
      return .word(scratch.bytes)
    }
  }
}

extension ValueSpeller.Token {
  /// Whether it is one of the words that tell an entity.
  fileprivate func tells(_ words: [[UInt8]], _ admitsNull: Bool) -> Bool {
    switch self {
    case .null: admitsNull
    case .text(let bytes), .word(let bytes), .literal(let bytes), .json(let bytes):
      words.contains { bytes.elementsEqual($0) }
    case .fault: false
    }
  }
}

import DragomanGraph

/// Where the records of a sample stand.
struct RecordPlaces {
  /// A list of records, or a dictionary of them, or a single one.
  struct List {
    var shape: FeedShape
    /// The path as it stands in the map; nil: the root.
    var path: String?
    /// The name of the list, and the words for one of its records.
    var plural: String
    var name: NameWords
    var isDictionary = false
    /// Whether it is all lists of a dictionary.
    var isOfLists = false
    var remark: String
  }

  private(set) var lists: [List] = []
  private(set) var remarks: [String] = []
  let sample: FeedSample
  private let spelling: ForeignPathSpelling
  /// Members beside the records.
  private var besides: [String] = []

  private static let maximumDepth = 4
  /// Names of lists and files that say nothing of the records.
  static let generic: Set<String> = [
    "data", "items", "item", "results", "result", "records", "record", "rows", "row", "objects",
    "object", "entries", "values", "list", "hits", "content", "response", "payload", "root",
    "stdin",
  ]

  init(_ sample: FeedSample, _ spelling: ForeignPathSpelling) {
    self.sample = sample
    self.spelling = spelling
    let root = sample.root
    switch sample.format {
    case .csv, .ndjson:
      if let element = root.element, element.kinds.total > 0 { addList(element, []) }
    case .json: findJSON(root)
    case .xml: findXML(root)
    }
    if !besides.isEmpty, !lists.isEmpty {
      let more = besides.count > 8 ? " and \(besides.count - 8) more" : ""
      remarks.append(
        "beside the records, not mapped: " + besides.prefix(8).joined(separator: ", ") + more
      )
    }
  }

  // MARK: - JSON

  private mutating func findJSON(_ root: FeedShape) {
    if let element = root.element, root.kinds.objects == 0 {
      if element.kinds.objects > 0 {
        addList(element, [])
      } else if element.kinds.scalars > 0, element.kinds.arrays == 0 {
        addList(element, [], path: "[*]")
      }
      return
    }
    guard root.kinds.objects > 0 else { return }
    if Self.isDictionary(root) {
      return addDictionary(root, [])
    }
    guard !isErrorAnswer else { return }
    if !Self.hasID(root) { search(root, [], depth: 0) }
    if isOneRecord(root, Self.words(of: sample.name).words) { lists = [] }
    if lists.isEmpty, !root.members.isEmpty, !Self.isEnvelope(root) {
      besides = []
      lists.append(whole(root))
    }
  }

  private func whole(_ root: FeedShape) -> List {
    List(
      shape: root,
      path: nil,
      plural: "",
      name: Self.words(of: sample.name),
      remark: "one record: the whole text"
    )
  }

  /// The whole text as a record, where a path says that it is one.
  func whole(at path: String) -> List? {
    switch sample.format {
    case .json:
      return path == "/" && sample.root.kinds.objects > 0 ? whole(sample.root) : nil
    case .xml:
      guard let root = sample.root.members.first, spelling.records([.member(root)]) == path else {
        return nil
      }
      var places = self
      places.lists = []
      places.addList(root, [.member(root)])
      return places.lists.first
    case .csv, .ndjson: return nil
    }
  }

  // MARK: - Documents

  /// Whether an object holds nothing but lists without anything in them, beside what tells of pages.
  private static func isEnvelope(_ root: FeedShape) -> Bool {
    func isEmpty(_ list: FeedShape) -> Bool {
      guard list.kinds.arrays == list.kinds.total, let element = list.element else { return false }
      return element.kinds.total == element.kinds.objects && element.members.isEmpty
    }
    let lists = root.members.filter(isEmpty)
    return !lists.isEmpty
      && (lists.count == root.members.count
        || lists.contains { generic.contains($0.nameText.lowercased()) })
  }

  /// Whether the text is what a service answers when something went wrong.
  private var isErrorAnswer: Bool {
    if sample.format == .xml { return errorElement != nil }
    let names = Set(sample.root.members.map { $0.nameText.lowercased() })
    let tellsError = !names.isDisjoint(with: ["error", "errors", "message", "exception", "detail"])
    return sample.format == .json && tellsError && names.isSubset(of: Self.errorWords)
  }

  /// The element that tells of an error: the root, or the one in a SOAP envelope.
  private var errorElement: String? {
    guard sample.format == .xml, let root = sample.root.members.first else { return nil }
    var shape = root
    for name in ["envelope", "body"] where shape.nameText.lowercased() == name {
      shape =
        shape.members.first { $0.nameText.lowercased() != "header" && !$0.isAttribute } ?? shape
    }
    let names: Set = ["error", "errors", "fault", "exception", "errorresponse"]
    return names.contains(shape.nameText.lowercased()) ? shape.nameText : nil
  }

  private static let errorWords: Set<String> = [
    "error", "errors", "message", "exception", "detail", "details", "title", "type", "status",
    "code", "statuscode", "status_code", "error_code", "error_description", "success", "ok",
    "timestamp", "path", "trace", "request_id", "requestid", "instance", "documentation_url",
  ]

  private mutating func search(_ shape: FeedShape, _ steps: [ForeignPathSpelling.Step], depth: Int)
  {
    if let merged = Self.mergedLists(of: shape) {
      addList(merged, steps + [.anyList])
      if !lists.isEmpty { lists[lists.count - 1].isOfLists = true }
      return
    }
    for member in shape.members {
      let steps = steps + [.member(member)]
      if let element = member.element, member.kinds.objects == 0, element.kinds.objects > 0 {
        addList(element, steps)
      } else if member.kinds.objects > 0, member.kinds.arrays == 0, depth < Self.maximumDepth {
        if Self.isDictionary(member) {
          addDictionary(member, steps)
        } else if Self.hasID(member), Self.hasRecords(member) {
          addList(member, steps)
        } else {
          search(member, steps, depth: depth + 1)
        }
      } else if depth == 0, member.kinds.scalars > 0 {
        besides.append("$root.\(member.nameText)")
      }
    }
  }

  /// Whether an object says which one it is, so that what is in it is its own.
  private static func hasID(_ object: FeedShape) -> Bool {
    object.members.contains { member in
      ["id", "_id"].contains(member.nameText.lowercased()) && member.kinds.scalars > 0
    }
  }

  private static func hasRecords(_ shape: FeedShape) -> Bool {
    shape.members.contains { member in
      member.element?.kinds.objects ?? 0 > 0 || hasRecords(member)
    }
  }

  private mutating func addDictionary(_ shape: FeedShape, _ steps: [ForeignPathSpelling.Step]) {
    let count = lists.count
    addList(Self.merged(shape), steps + [.anyMember])
    if lists.count > count { lists[count].isDictionary = true }
  }

  // MARK: - XML

  private mutating func findXML(_ document: FeedShape) {
    guard let root = document.members.first else { return }
    search(document: root, [.member(root)], depth: 0)
    if isOneRecord(root, NameWords(root.nameText).words) {
      lists = []
      besides = []
      return addList(root, [.member(root)])
    }
    guard lists.isEmpty else { return }
    besides = []
    guard !isErrorAnswer else { return }
    // Nothing repeats: the children with members are records, or the root is one.
    let children = root.members.filter { !$0.isAttribute && $0.kinds.objects > 0 }
    let isEnvelope = !children.isEmpty && children.count == root.members.count { !$0.isAttribute }
    for child in isEnvelope ? children : [] {
      addList(child, [.member(root), .member(child)])
    }
    if lists.isEmpty, root.kinds.total > 0 { addList(root, [.member(root)]) }
  }

  private mutating func search(
    document shape: FeedShape,
    _ steps: [ForeignPathSpelling.Step],
    depth: Int
  ) {
    for member in shape.members {
      let inside = steps + [.member(member)]
      guard !member.isAttribute, member.kinds.objects > 0 || member.isRepeated else {
        if let path = spelling.path(Array(inside.dropFirst())) { besides.append("$root/" + path) }
        continue
      }
      if member.isRepeated || Self.isRecord(member, in: shape) {
        addList(member, inside)
      } else if depth < Self.maximumDepth {
        search(document: member, inside, depth: depth + 1)
      }
    }
  }

  /// Whether an element that stands alone says which one it is, and stands beside lists or has them only
  /// further below.
  private static func isRecord(_ element: FeedShape, in parent: FeedShape) -> Bool {
    let hasID = element.members.contains {
      $0.isAttribute && $0.nameText.lowercased() == "id"
    }
    return hasID
      && (parent.members.contains(where: \.isRepeated)
        || !element.members.contains(where: \.isRepeated))
  }

  // MARK: - Lists

  private mutating func addList(
    _ shape: FeedShape,
    _ steps: [ForeignPathSpelling.Step],
    path: String? = nil
  ) {
    let text = steps.isEmpty ? path : spelling.records(steps)
    guard steps.isEmpty || text != nil else { return }
    // Objects without members are nothing to make attributes of.
    guard shape.kinds.objects < shape.kinds.total || !shape.members.isEmpty else { return }
    var last = ""
    for case .member(let member) in steps { last = member.nameText }
    let hasLetter = last.unicodeScalars.contains { $0.properties.isAlphabetic }
    let isGeneric = !hasLetter || Self.generic.contains(last.lowercased())
    let count = shape.kinds.total
    lists.append(
      List(
        shape: shape,
        path: text,
        plural: last,
        name: isGeneric ? Self.words(of: sample.name) : NameWords(last).singular,
        remark: "\(count) \(count == 1 ? "record" : "records")"
      )
    )
  }

  /// The words for a record of a file.
  private static func words(of file: String) -> NameWords {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let stem = name.split(separator: ".").first.map(String.init) ?? name
    let words = NameWords(stem).withoutDate
    let hasLetter = words.words.joined().unicodeScalars.contains { $0.properties.isAlphabetic }
    return !hasLetter || generic.contains(words.words.joined())
      ? NameWords("record") : words.singular
  }

  /// Whether the members of an object are records of one kind, by their names.
  static func isDictionary(_ shape: FeedShape) -> Bool {
    let members = shape.members
    return members.allSatisfy { $0.kinds.objects == $0.kinds.total } && areAlike(members)
  }

  /// The elements of all members of an object as one place, where they are lists of one kind.
  private static func mergedLists(of shape: FeedShape) -> FeedShape? {
    guard shape.members.allSatisfy({ $0.kinds.arrays == $0.kinds.total }) else { return nil }
    let elements = shape.members.compactMap(\.element).filter { $0.kinds.total > 0 }
    guard elements.allSatisfy({ $0.kinds.objects > 0 }), areAlike(elements) else { return nil }
    let merged = FeedShape()
    for element in elements { merged.merge(element) }
    if let rest = shape.others?.element { merged.merge(rest) }
    return merged
  }

  /// Whether three or more places, or two that have codes for names, have the same members for the most part.
  private static func areAlike(_ members: [FeedShape]) -> Bool {
    guard members.count >= 3 || areCodes(members) else { return false }
    var counts: [[UInt8]: Int] = [:]
    for name in members.flatMap({ $0.members.map(\.name) }) { counts[name, default: 0] += 1 }
    // A name that half of the members have is common to them.
    let common = counts.filter { $0.value * 2 > members.count }.count
    return common > 0 && common * 2 >= counts.count
  }

  /// Whether the names of two places are codes of one length, as `EUR` and `USD`, and the same is in both.
  private static func areCodes(_ members: [FeedShape]) -> Bool {
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    return members.count == 2 && Set(members.map(\.name.count)).count == 1
      && members.allSatisfy { $0.name.count > 1 && $0.name.allSatisfy(capitals.contains) }
      && Set(members.map { Set($0.members.map(\.name)) }).count == 1
  }

  /// All members of a dictionary as one place.
  static func merged(_ shape: FeedShape) -> FeedShape {
    let merged = FeedShape()
    for member in shape.members { merged.merge(member) }
    if let rest = shape.others { merged.merge(rest) }
    return merged
  }

  // MARK: - Faults

  private var place: Origin { Origin(file: sample.name, line: 1, column: 1, byte: 0) }

  /// What is said where there are no records.
  var nothing: ReadError {
    if sample.malformedCount > 0 {
      return ReadError(
        .noRecords,
        "\(sample.name) has no record that can be read: "
          + "\(MessageWords.count(sample.malformedCount, "line or row is", "lines or rows are")) not well-formed."
          + sample.firstFaultText,
        at: place,
        help: sample.format == .csv
          ? "the first row names the columns: take out what stands above it" : nil
      )
    }
    if isErrorAnswer {
      let names = sample.root.members.map(\.nameText).joined(separator: ", ")
      let evidence = errorElement.map { "it has the element <\($0)>" } ?? "its members are \(names)"
      return ReadError(
        .noRecords,
        "\(sample.name) looks like an error message, not like a feed: \(evidence).",
        at: place,
        help: "look at what it says, and fetch the feed again"
      )
    }
    return ReadError(
      .noRecords,
      sample.root.element?.kinds.arrays ?? 0 > 0
        ? "\(sample.name) is an array of arrays: there are no names to make attributes of."
        : "\(sample.name) has no records: there is nothing to guess from.",
      at: place,
      help: "give a sample with at least one record"
    )
  }

  /// What is said of a record path that is none.
  func unknown(_ path: String) -> ReadError {
    let known = lists.map { $0.path ?? "/" }.joined(separator: ", ")
    return ReadError(
      .noRecords,
      "\(sample.name) has no records at \(path).",
      at: place,
      help: known.isEmpty ? nil : "records stand at \(known)"
    )
  }
}

import DragomanGraph

/// Where the records of an entity stand in a document.
struct RecordPlace {
  /// The source that reads them there; nil where none of the format does.
  let source: SourceMap?
  /// The way to the records, as the map says it.
  let path: ForeignPath?
  /// JSON: the members above the array of records.
  private(set) var envelope: [String] = []
  /// XML: the elements above the records and their own, from the root; its name is empty where it differs.
  private(set) var elements: [ExportTree.Name] = []
  /// Whether the records stand under a name each: in a JSON object, or as elements of any name.
  let isNamed: Bool
  /// Where the records stand, where that is not where the source reads them; nil: it is.
  private(set) var unread: String?

  /// Finds the place: `export: { json: { at } }` or `{ xml: { at } }`, then the source's `records`.
  ///
  /// - Parameters:
  ///   - map: The map.
  ///   - source: The source that reads the records.
  ///   - format: The format.
  ///   - hasNames: Whether a JSON object may hold the records: not by local names, nor one by one.
  /// - Throws: `.map` where records cannot be written there.
  init(
    _ map: ImportMap,
    _ source: SourceMap?,
    _ format: ForeignFormat,
    hasNames: Bool
  ) throws(ExportError) {
    self.source = source
    let options = map.exportOptions
    let text = format == .json ? options.jsonAt : format == .xml ? options.xmlAt : nil
    if let text {
      let parser = ForeignPathParser(
        format: format,
        namespaces: format == .xml ? map.exportNamespaces : [:],
        leadsToRecords: true
      )
      do throws(PathFault) {
        path = try parser.parse(text)
      } catch {
        throw ExportError(
          .map,
          "The path \(text) of export.\(format.rawValue).at is none: \(error.message)"
        )
      }
    } else {
      path = format == .ndjson ? nil : source?.records
    }
    isNamed =
      path?.steps.last == .anyMember && (format == .xml || (format == .json && hasNames))
    if format == .json { envelope = try Self.envelope(path) }
    if format == .xml { elements = try Self.elements(path) }
    // Whether an array or its elements are named is one to a reader.
    if text != nil, let source {
      let isRead =
        format == .xml
        ? (try? Self.elements(source.records)) == elements
        : (try? Self.envelope(source.records)) == envelope
      if !isRead || isNamed != (source.records?.steps.last == .anyMember) { unread = text }
    }
  }

  /// Why one document cannot hold these records and other ones; nil where it can.
  func obstacle(beside other: RecordPlace, _ format: ForeignFormat) -> String? {
    if envelope != other.envelope || isNamed != other.isNamed && format != .xml
      || elements.dropLast() != other.elements.dropLast()
    {
      return
        "their records stand at \(text), others at \(other.text), and a document has one such place"
    }
    guard let own = source, let theirs = other.source, elements.last == other.elements.last,
      !own.entity.utf8.elementsEqual(theirs.entity.utf8)
    else { return nil }
    return "the sources \(own.name) and \(theirs.name) read the same place, each for its own entity"
  }

  private var text: String { path?.text ?? "the root" }

  /// The members above the records.
  private static func envelope(_ path: ForeignPath?) throws(ExportError) -> [String] {
    var steps = path?.steps ?? []
    if steps.last == .all || steps.last == .anyMember { steps.removeLast() }
    var names: [String] = []
    for step in steps {
      switch step {
      case .member(let name, _): names.append(name)
      // Digits of a JSON Pointer name a member, too.
      case .index(let index) where path?.isPointer == true: names.append(String(index))
      default:
        throw ExportError(
          .map,
          "Records cannot be written at \(path?.text ?? ""): only members may lead to them.",
          help: "say where under `export: { json: { at: /data/people } }`"
        )
      }
    }
    return names
  }

  /// The elements down to the record; its own name is empty where it differs.
  private static func elements(_ path: ForeignPath?) throws(ExportError) -> [ExportTree.Name] {
    let help = "say where under `export: { xml: { at: /people/person } }`"
    guard let path else {
      throw ExportError(
        .map,
        "The map does not say at which elements records stand in XML.",
        help: help
      )
    }
    var names: [ExportTree.Name] = []
    for (place, step) in path.steps.enumerated() {
      if step == .anyMember, place > 0, place == path.steps.count - 1 {
        names.append(ExportTree.Name(local: ""))
        continue
      }
      guard case .member(let name, let namespace) = step else {
        throw ExportError(
          .map,
          "Records cannot be written at \(path.text): only named elements may lead to them.",
          help: help
        )
      }
      names.append(ExportTree.Name(local: name, namespace: namespace ?? ""))
    }
    guard names.count > 1 else {
      throw ExportError(
        .map,
        "The record element \(path.text) is the root: a document could hold one record only.",
        help: help
      )
    }
    return names
  }
}

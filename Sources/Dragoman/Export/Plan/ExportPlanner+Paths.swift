import DragomanGraph

/// Where attributes are written.
extension ExportPlanner {
  /// Where the attribute is written: the first of its paths that one record can be written by.
  func path(of attribute: AttributeMap, in visit: Visit) -> [ForeignPath.Step]? {
    guard !isLocal, let from = attribute.from else {
      return format == .xml && !attribute.name.isXMLName
        ? nil : ownPath(attribute.name, of: visit.map).steps
    }
    let paths = paths(from)
    if format == .csv, paths.isEmpty, !readsCSV {
      return [.member(from.json.first?.text ?? attribute.name, namespace: nil)]
    }
    let isAlone = placedCount(in: visit) == 1
    return paths.lazy.compactMap { steps(of: $0, attribute.type, isAlone: isAlone) }.first
  }

  /// The path of what says none: its own name, which an import looks for in the default namespace of XML
  /// sources; local names are in none.
  func ownPath(_ name: String, of entity: EntityMap) -> ForeignPath {
    isLocal
      ? ForeignPath(own: name)
      : spellings.names(of: entity).path(ofElement: name)
  }

  /// How many attributes want a place in the record: not in its name, nor outside of it.
  private func placedCount(in visit: Visit) -> Int {
    let all = placedAttributes(of: visit).filter { attribute in
      guard !isLocal, let from = attribute.from else { return true }
      return paths(from).contains { $0.root == .record }
    }
    guard visit.isNamed else { return all.count }
    let name = nameAttribute(of: visit.map)
    return all.count {
      !readsNameFirst($0) && name?.utf8.elementsEqual($0.name.utf8) != true
    }
  }

  /// The paths that hold in the format.
  func paths(_ from: ForeignPaths) -> [ForeignPath] {
    switch format {
    case .json, .ndjson: from.json
    case .xml: from.xml
    case .csv: from.csv
    }
  }

  private func steps(
    of path: ForeignPath,
    _ type: AttributeType,
    isAlone: Bool
  ) -> [ForeignPath.Step]? {
    guard path.root == .record else { return nil }
    var steps = path.steps
    // A list that is read element by element is a list.
    if steps.last == .all, type == .json { steps.removeLast() }
    for step in steps {
      switch step {
      case .all, .anyMember, .having: return nil
      case .index(let index) where index > ExportTree.Builder.maximumHoleCount: return nil
      default: break
      }
    }
    if steps.isEmpty, format == .csv || (format != .xml && !isAlone) { return nil }
    let isLiteral = isFlat && format != .xml && steps.count > 1 && !path.text.hasPrefix("/")
    return isLiteral ? [.member(path.text, namespace: nil)] : steps
  }
}

extension String {
  /// Whether the text can be the name of an XML element or attribute, without a prefix.
  ///
  /// `Name` of XML 1.0 (https://www.w3.org/TR/xml/#NT-Name) but for the colon, which would end a
  /// prefix.
  var isXMLName: Bool {
    guard let first = unicodeScalars.first, first.startsXMLName else { return false }
    return unicodeScalars.allSatisfy { $0.startsXMLName || $0.continuesXMLName }
  }
}

extension Unicode.Scalar {
  /// `NameStartChar` without the colon.
  fileprivate var startsXMLName: Bool {
    switch value {
    case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D,
      0x37F...0x1FFF, 0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF,
      0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF:
      true
    default: false
    }
  }

  /// What `NameChar` has beyond that.
  fileprivate var continuesXMLName: Bool {
    switch value {
    case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
    default: false
    }
  }
}

/// One place in a foreign record, parsed from the small path language of docs/maps.md.
///
/// The language is small on purpose: every path can be followed in one streaming pass.
public struct ForeignPath: Sendable, Hashable {
  /// One step of a path.
  public enum Step: Sendable, Hashable {
    /// A member of an object (JSON) or a child element (XML), with its namespace URI in XML.
    case member(String, namespace: String?)
    /// An XML attribute.
    case attribute(String, namespace: String?)
    /// An element of an array, from 0.
    case index(Int)
    /// All elements of an array.
    case all
    /// Every member of a dictionary, or every child element.
    case anyMember
    /// The direct text of an XML element.
    case text
    /// The XML element at hand, if its attribute is as wanted: `displayName[not(@count)]`.
    case having(AttributeTest)
  }

  /// What an XML element's attribute has to be.
  public struct AttributeTest: Sendable, Hashable {
    /// The attribute's local name.
    public var name: String
    /// Its namespace's URI; nil: in none.
    public var namespace: String?
    /// The wanted value, compared byte for byte; nil: any.
    public var value: String?
    /// Whether the attribute must not be so.
    public var isNegated: Bool

    /// The test as it stands behind an element, by the attribute's name as a path spells it: `[not(@b)]`.
    func text(naming name: String) -> String {
      let quote = value?.utf8.contains(UInt8(ascii: "\"")) == true ? "'" : "\""
      let test = name + (value.map { "=\(quote)\($0)\(quote)" } ?? "")
      return isNegated ? "[not(\(test))]" : "[\(test)]"
    }

    /// Makes a test.
    public init(
      name: String,
      namespace: String? = nil,
      value: String? = nil,
      isNegated: Bool = false
    ) {
      self.name = name
      self.namespace = namespace
      self.value = value
      self.isNegated = isNegated
    }
  }

  /// Where the path starts.
  public enum Root: Sendable, Hashable {
    /// At the record itself.
    case record
    /// At the record that contains this one (`$parent`).
    case parent
    /// At the members that stand before the records (`$root`).
    case document
    /// The record's number in its feed, from 0 (`$index`).
    case index
    /// The file as the user named it (`$file`).
    case file
    /// The file's name without its folders (`$file.name`).
    case fileName
    /// The same without its ending, and without that of a compression (`$file.stem`).
    case fileStem
    /// The record's line (`$line`).
    case line
    /// The member name of a dictionary-keyed record (`$key`).
    case key
  }

  /// Where the path starts.
  public var root: Root
  /// The steps from there; empty is the root itself (`.`).
  public var steps: [Step]
  /// The path as written in the map.
  public var text: String

  /// Makes a path from parts.
  public init(root: Root = .record, steps: [Step], text: String) {
    self.root = root
    self.steps = steps
    self.text = text
  }
}

extension ForeignPath {
  /// Whether the path is a JSON Pointer, whose decimal tokens are indexes in arrays and names in
  /// objects (RFC 6901, section 4).
  var isPointer: Bool { text.utf8.first == UInt8(ascii: "/") }
}

extension ForeignPath.Step {
  /// Whether the step leads into arrays; the others lead into objects and elements.
  var isForArrays: Bool {
    switch self {
    case .index, .all: true
    default: false
    }
  }
}

/// The formats a feed may have.
public enum ForeignFormat: String, Sendable, Hashable, Codable, CaseIterable {
  /// One JSON text.
  case json
  /// One JSON text a line.
  case ndjson
  /// XML 1.0.
  case xml
  /// Comma-separated values.
  case csv
}

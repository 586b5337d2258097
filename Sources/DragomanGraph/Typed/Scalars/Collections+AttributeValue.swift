extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// The type of what is wrapped.
  public static var attributeType: AttributeType { Wrapped.attributeType }
  /// True.
  @inlinable public static var isOptional: Bool { true }
  /// Those of what is wrapped.
  public static var allowedValues: [String]? { Wrapped.allowedValues }
  /// As what is wrapped.
  public static func admits(_ type: AttributeType) -> Bool { Wrapped.admits(type) }

  /// Unboxes null as nil, and nothing else: a value that does not fit is an error.
  @inlinable
  public init(unboxing value: ColumnValue) throws {
    if case .null = value { self = nil } else { self = try Wrapped(unboxing: value) }
  }

  /// Boxes nil as null.
  @inlinable
  public func box(into column: inout BoxingColumn) throws {
    if let self { try self.box(into: &column) } else { column.null() }
  }
}

extension Array: AttributeValue where Element: AttributeValue {
  /// `json`; bytes are `data`.
  public static var attributeType: AttributeType { Element.self == UInt8.self ? .data : .json }

  /// Unboxes a JSON array; bytes as they are.
  public init(unboxing value: ColumnValue) throws {
    if let bytes = [] as? [UInt8], Element.self == UInt8.self {
      guard case .blob(let found) = value else {
        throw ValueMismatch(expected: "bytes", found: value)
      }
      self = (bytes + [UInt8](found)) as? [Element] ?? []
      return
    }
    guard case .text(let bytes) = value else {
      throw ValueMismatch(expected: "a JSON array", found: value)
    }
    var list: [Element] = []
    var reader = ListReader(bytes)
    guard try reader.forEach(Element.attributeType, { list.append(try Element(unboxing: $0)) })
    else { throw ValueMismatch(expected: "a JSON array", found: value) }
    self = list
  }

  /// Boxes a JSON array; bytes as they are.
  public func box(into column: inout BoxingColumn) throws {
    if let bytes = self as? [UInt8], Element.self == UInt8.self {
      return try bytes.withUnsafeBytes { try column.bytes($0) }
    }
    var writer = ListWriter(Element.attributeType)
    for element in self { try writer.append(element) }
    try column.json(writer.text)
  }
}

extension Set: AttributeValue where Element: AttributeValue {
  /// `json`.
  public static var attributeType: AttributeType { .json }

  /// Unboxes a JSON array; what is in it twice is there once.
  public init(unboxing value: ColumnValue) throws {
    guard case .text(let bytes) = value else {
      throw ValueMismatch(expected: "a JSON array", found: value)
    }
    var set: Set<Element> = []
    var reader = ListReader(bytes)
    guard try reader.forEach(Element.attributeType, { set.insert(try Element(unboxing: $0)) })
    else { throw ValueMismatch(expected: "a JSON array", found: value) }
    self = set
  }

  /// Boxes a JSON array, ordered by the bytes of its elements: the same set is always the same text.
  public func box(into column: inout BoxingColumn) throws {
    var elements: [String] = []
    for element in self {
      var writer = ListWriter(Element.attributeType)
      try writer.append(element)
      elements.append(String(writer.text.dropFirst().dropLast()))
    }
    elements.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    try column.json("[\(elements.joined(separator: ","))]")
  }
}

extension BoxingColumn {
  /// Boxes JSON that is known to be well-formed.
  mutating func json(_ text: String) throws {
    guard type == .json else {
      throw ValueMismatch(expected: type.withArticle, beyond: "a JSON array")
    }
    try canonical(text)
  }
}

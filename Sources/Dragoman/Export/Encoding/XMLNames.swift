/// The prefixes of an XML export: which name is written how, and what the root element declares.
///
/// A source's default namespace stays the default one unless some element is in no namespace, as local
/// names are: it would be pulled into it.
struct XMLNames {
  /// The declarations of the root element, with a space in front.
  let declarations: String
  /// What ends the tag of an element that is null: ` xsi:nil="true"/>`.
  let nilEnd: [UInt8]
  private let prefixes: [(uri: String, prefix: String)]
  private let defaultURI: String?

  private static let xmlURI = "http://www.w3.org/XML/1998/namespace"
  private static let schemaURI = "http://www.w3.org/2001/XMLSchema-instance"

  init(_ plan: ExportPlan) {
    let tree = plan.tree
    var elements = plan.elements
    var attributes: [ExportTree.Name] = []
    for node in tree.nodes.dropFirst() {
      let name = tree.names[Int(node.name)]
      if node.role == .attribute { attributes.append(name) } else { elements.append(name) }
    }
    let known = plan.namespaces
    let isDefaultUsable = !elements.contains { $0.namespace.isEmpty }
    var prefixes: [(uri: String, prefix: String)] = []
    var taken = Set(known.keys).union(["xml", "xmlns", "xsi"])
    func prefix(of uri: String) -> String {
      let declared = known.filter { !$0.key.isEmpty && $0.value.utf8.elementsEqual(uri.utf8) }
      if let first = declared.keys.min() { return first }
      if uri.utf8.elementsEqual(Self.schemaURI.utf8), known["xsi"] == nil { return "xsi" }
      var number = 1
      while taken.contains("ns\(number)") { number += 1 }
      taken.insert("ns\(number)")
      return "ns\(number)"
    }
    defaultURI = known[""].flatMap { uri in
      isDefaultUsable && elements.contains { $0.namespace.utf8.elementsEqual(uri.utf8) } ? uri : nil
    }
    for (name, isAttribute) in elements.map({ ($0, false) }) + attributes.map({ ($0, true) }) {
      let uri = name.namespace
      guard !uri.isEmpty, !uri.utf8.elementsEqual(Self.xmlURI.utf8),
        isAttribute || uri != defaultURI,
        !prefixes.contains(where: { $0.uri.utf8.elementsEqual(uri.utf8) })
      else { continue }
      prefixes.append((uri, prefix(of: uri)))
    }
    let writesNil =
      plan.writesNulls || plan.links.contains(where: \.needsNull)
      || plan.slots.contains { $0.nulls.isNeeded || $0.attribute.type == .json }
    let schemaPrefix =
      prefixes.first { $0.uri.utf8.elementsEqual(Self.schemaURI.utf8) }?.prefix
    let nilPrefix = schemaPrefix ?? prefix(of: Self.schemaURI)
    if writesNil, schemaPrefix == nil { prefixes.append((Self.schemaURI, nilPrefix)) }
    nilEnd = Array(" \(nilPrefix):nil=\"true\"/>".utf8)
    self.prefixes = prefixes
    var declared = prefixes.map { (" xmlns:\($0.prefix)", $0.uri) }
    if let defaultURI { declared.append((" xmlns", defaultURI)) }
    declarations = declared.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
      .map { "\($0)=\"\(Self.escaped($1))\"" }.joined()
  }

  /// The name with its prefix.
  func qualified(_ name: ExportTree.Name, isAttribute: Bool) -> String {
    let uri = name.namespace
    if uri.isEmpty || (!isAttribute && uri == defaultURI) { return name.local }
    if uri.utf8.elementsEqual(Self.xmlURI.utf8) { return "xml:\(name.local)" }
    let known = prefixes.first { $0.uri.utf8.elementsEqual(uri.utf8) }
    return known.map { "\($0.prefix):\(name.local)" } ?? name.local
  }

  private static func escaped(_ uri: String) -> String {
    let buffer = ExportBuffer(capacity: 128)
    var uri = uri
    uri.withUTF8 { _ = buffer.append(UnsafeRawBufferPointer($0), escaping: .xmlAttribute) }
    return String(decoding: buffer.bytes, as: UTF8.self)
  }
}

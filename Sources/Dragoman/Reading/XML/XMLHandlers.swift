import CLibXML2

/// The callbacks that libxml2 calls, and the parser that calls them.
///
/// The parser never opens anything: there is no callback that loads (no `resolveEntity`, no
/// `externalSubset`), and declarations of external entities are refused as they are read. Errors
/// come through the parser's own structured handler, never through libxml2's global ones, so
/// nothing is printed.
enum XMLHandlers {
  /// Makes a push parser that tells the builder at that address what it reads.
  ///
  /// - Returns: nil when there is no memory.
  static func makeParser(for builder: UnsafeMutablePointer<XMLTapeBuilder>) -> xmlParserCtxtPtr? {
    _ = parserIsReady
    var handler = makeHandler()
    guard let context = xmlCreatePushParserCtxt(&handler, builder, nil, 0, nil) else { return nil }
    let options =
      XML_PARSE_NOENT.rawValue | XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue
    xmlCtxtUseOptions(context, CInt(options))
    // The text is UTF-8 by now: libxml2 need not look for another encoding.
    context.pointee.charset = CInt(XML_CHAR_ENCODING_UTF8.rawValue)
    return context
  }

  /// Runs the parser with its thread's handler of errors that belong to no parser (the tree builder's,
  /// of entities): they end the reading, too, and nothing is printed.
  static func parse(
    _ context: xmlParserCtxtPtr,
    for builder: UnsafeMutablePointer<XMLTapeBuilder>,
    _ piece: UnsafeRawBufferPointer?,
    isLast: Bool
  ) {
    xmlSetStructuredErrorFunc(builder, report)
    defer { xmlSetStructuredErrorFunc(nil, nil) }
    let bytes = piece?.baseAddress?.assumingMemoryBound(to: CChar.self)
    xmlParseChunk(context, bytes, CInt(piece?.count ?? 0), isLast ? 1 : 0)
  }

  static func destroy(_ context: xmlParserCtxtPtr) {
    if let document = context.pointee.myDoc {
      xmlFreeDoc(document)
      context.pointee.myDoc = nil
    }
    xmlFreeParserCtxt(context)
  }

  /// libxml2 wants to be initialised once, before threads use it.
  private static let parserIsReady: Void = xmlInitParser()

  private static func makeHandler() -> xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    handler.startElementNs = {
      builder,
      name,
      _,
      space,
      namespaceCount,
      namespaces,
      attributeCount,
      _,
      attributes in
      guard let builder, let name else { return }
      if namespaceCount > 0, let namespaces {
        events(builder).pointee.declare(namespaces, count: Int(namespaceCount))
      }
      events(builder).pointee.startElement(
        name,
        space: space,
        attributes: attributes,
        attributeCount: Int(attributeCount)
      )
    }
    handler.endElementNs = { builder, _, _, _ in
      guard let builder else { return }
      events(builder).pointee.endElement()
    }
    // One function for both, so that libxml2 does not look for ignorable white space. There is
    // no cdataBlock: the text of CDATA sections comes here as well.
    handler.characters = characters
    handler.ignorableWhitespace = characters
    addEntityHandlers(to: &handler)
    handler.serror = report
    return handler
  }

  private static let report: xmlStructuredErrorFunc = { builder, error in
    guard let builder, let error, error.pointee.level.rawValue >= XML_ERR_ERROR.rawValue,
      !passedOver.contains(error.pointee.code)
    else { return }
    events(builder).pointee.fail(error.pointee)
  }

  private static let characters: charactersSAXFunc = { builder, text, count in
    guard let builder, let text else { return }
    events(builder).pointee.characters(text, count: Int(count))
  }

  /// What is needed to expand internal entities: libxml2 keeps them in the document of the tree
  /// builder, of which nothing else is used.
  private static func addEntityHandlers(to handler: inout xmlSAXHandler) {
    handler.startDocument = { builder in
      guard let builder else { return }
      xmlSAX2StartDocument(events(builder).pointee.context)
    }
    handler.internalSubset = { builder, name, publicID, systemID in
      guard let builder else { return }
      xmlSAX2InternalSubset(events(builder).pointee.context, name, publicID, systemID)
    }
    handler.entityDecl = { builder, name, type, publicID, systemID, content in
      guard let builder, let name else { return }
      guard type == XML_INTERNAL_GENERAL_ENTITY.rawValue else {
        events(builder).pointee.refuseEntity(name, type: type, systemID: systemID)
        return
      }
      guard !redeclares(name, as: content) else {
        events(builder).pointee.refuseRedeclaration()
        return
      }
      xmlSAX2EntityDecl(
        events(builder).pointee.context,
        name,
        type,
        publicID,
        systemID,
        content
      )
    }
    // Nothing is kept of a notation; but of what the parser takes, its tree builder refuses this.
    handler.notationDecl = { builder, name, publicID, systemID in
      guard let builder, let name, publicID == nil, systemID == nil else { return }
      events(builder).pointee.refuseNotation(name)
    }
    handler.unparsedEntityDecl = { builder, name, publicID, systemID, notation in
      guard let builder else { return }
      xmlSAX2UnparsedEntityDecl(
        events(builder).pointee.context,
        name,
        publicID,
        systemID,
        notation
      )
    }
    handler.getEntity = { builder, name in
      guard let builder, !events(builder).pointee.hasFailed else { return nil }
      return xmlSAX2GetEntity(events(builder).pointee.context, name)
    }
  }
}

/// The errors that end no reading: what only a validating reader minds is an error to newer versions, too, and nobody
/// has to check whether the name of a namespace is a URI (Namespaces in XML 1.0, 7).
private let passedOver = [XML_DTD_DUP_TOKEN, XML_WAR_NS_URI, XML_WAR_NS_URI_RELATIVE].map {
  CInt($0.rawValue)
}

/// The entities that every document has, and what a declaration of them may say (XML 1.0, 4.6).
private let predefined: [String: Set<String>] = [
  "lt": ["&#60;", "&#x3c;"], "amp": ["&#38;", "&#x26;"], "gt": [">", "&#62;", "&#x3e;"],
  "quot": ["\"", "&#34;", "&#x22;"], "apos": ["'", "&#39;", "&#x27;"],
]

/// Whether a declaration makes something else of an entity that every document has.
private func redeclares(_ name: UnsafePointer<UInt8>, as content: UnsafePointer<UInt8>?) -> Bool {
  guard let texts = predefined[String(cString: name)] else { return false }
  return !texts.contains(content.map { String(cString: $0).lowercased() } ?? "")
}

@inline(__always)
private func events(_ builder: UnsafeMutableRawPointer) -> UnsafeMutablePointer<XMLTapeBuilder> {
  builder.assumingMemoryBound(to: XMLTapeBuilder.self)
}

extension XMLTapeBuilder {
  fileprivate mutating func fail(_ error: xmlError) {
    // libxml2 goes on after an error and tells more of them; only the first is worth a sentence.
    guard !hasFailed else { return }
    let isAtReference = context.pointee.input?.pointee.cur?.pointee == UInt8(ascii: "&")
    fail(
      xmlFailure(
        error,
        at: currentOrigin(),
        isWhole: hasRoot && depth == 0,
        isAtReference: isAtReference
      )
    )
  }

  /// Refuses another meaning of `lt`, `amp`, `gt`, `quot` or `apos`.
  fileprivate mutating func refuseRedeclaration() {
    let message = "The text is not well-formed XML: invalid redeclaration of predefined entity."
    fail(ReadError(.xml, message, at: currentOrigin()))
  }

  /// Refuses a notation that names nothing.
  fileprivate mutating func refuseNotation(_ name: UnsafePointer<UInt8>) {
    let message =
      "The text is not well-formed XML: the notation \"\(String(cString: name))\" has neither a system"
      + " identifier nor a public one."
    fail(ReadError(.xml, message, at: currentOrigin()))
  }

  /// Refuses an entity whose text is outside of the document, and every parameter entity.
  fileprivate mutating func refuseEntity(
    _ name: UnsafePointer<UInt8>,
    type: CInt,
    systemID: UnsafePointer<UInt8>?
  ) {
    let name = String(cString: name)
    let isGeneral = type == XML_EXTERNAL_GENERAL_PARSED_ENTITY.rawValue
    let entity = isGeneral ? "external entity \"\(name)\"" : "parameter entity \"\(name)\""
    let target = systemID.map { " (\(String(cString: $0)))" } ?? ""
    fail(
      ReadError(
        .xmlExternal,
        "The document declares the \(entity)\(target), which is never followed.",
        at: currentOrigin(),
        help: "remove the declaration, or put the text it stands for into the document"
      )
    )
  }
}

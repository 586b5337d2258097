/// A rule for pages while it is read.
struct PageDraft: Sendable {
  var next: String?
  var cursor: String?
  var parameter: String?
}

extension MapKind where Value == PageRule {
  /// `{ next: header }`, `{ next: /pointer }`, or `{ cursor: /pointer, parameter: name }`.
  static var pages: MapKind {
    MapKind(
      shape: .section(MapGrammar.pages.entry),
      read: { reader, found in
        var draft = PageDraft()
        _ = reader.fill(&draft, from: found, by: MapGrammar.pages)
        switch (draft.next, draft.cursor, draft.parameter) {
        case ("header"?, nil, nil): return .header
        case (let pointer?, nil, nil) where pointer.hasPrefix("/"): return .link(pointer)
        case (nil, let pointer?, let name?) where pointer.hasPrefix("/") && !name.isEmpty:
          return .cursor(pointer, parameter: name)
        default:
          reader.report(
            .value,
            "Pages have `next`, which is the word header or a JSON Pointer, or `cursor`, a JSON Pointer,"
              + " with the `parameter` that it is.",
            at: found
          )
          return nil
        }
      },
      write: { rule, writer in
        let draft =
          switch rule {
          case .header: PageDraft(next: "header")
          case .link(let pointer): PageDraft(next: pointer)
          case .cursor(let pointer, let name): PageDraft(cursor: pointer, parameter: name)
          }
        return .mapping(MapGrammar.pages.members(of: draft, writer))
      }
    )
  }
}

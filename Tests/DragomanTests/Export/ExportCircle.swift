import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports a feed, exports it, and imports the export: into the same store, where nothing may change, and
/// into an empty one, of which the same is exported then.
///
/// - Parameters:
///   - yaml: The map.
///   - feed: The feed.
///   - request: The export.
///   - besides: A feed that the empty store gets, too.
/// - Returns: The export, which loses nothing.
/// - Throws: What the imports and the exports throw.
func exportCircle(
  _ yaml: String,
  _ feed: String,
  _ request: ExportRequest,
  besides: String? = nil
) async throws -> String {
  let fixture = try ImportFixture(yaml)
  let imported = try await fixture.run(feed)
  #expect(imported.counts.rejected == 0, "\(imported.issueSummary)")
  let before = try UndoPropertyTests.state(of: fixture.store)
  // Losses are errors here.
  let bytes = try await Exporter(map: fixture.map, store: fixture.store).bytes(request)
  let text = String(decoding: bytes, as: UTF8.self)
  let again = try await fixture.run(text)
  #expect(again.counts.unchanged == again.counts.read, "\(again.summary): \(text)")
  #expect(try UndoPropertyTests.state(of: fixture.store) == before, "\(text)")
  let copy = try ImportFixture(yaml)
  if let besides { try await copy.run(besides) }
  let made = try await copy.run(text)
  #expect(made.counts.rejected == 0, "\(made.issueSummary): \(text)")
  let copied = try await Exporter(map: copy.map, store: copy.store).bytes(request)
  #expect(String(decoding: copied, as: UTF8.self) == text)
  return text
}

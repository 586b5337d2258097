import DragomanGraph

/// Runs once for each record that was applied, in input order, after the object's attributes and
/// the links that can be resolved by then are set.
///
/// The object is of the import's context. What the hook throws rejects the record, and what the hook did
/// with it; it cannot save (`ContextError.Code.importing`).
public typealias PostImportHook = @Sendable (ForeignRecord, ManagedObject) throws -> Void

/// Runs once for each record that is written of an object, last of all, and may change it.
///
/// Nested records have had theirs by then, also those that give no more of their object than its key. A to-one's target
/// whose members stand among those of its owner (`from: "."`) has no record of its own. Of an export that masks or leaves
/// out values it is the hook's to do so with what it adds.
public typealias PostExportHook = @Sendable (ManagedObject, inout ForeignRecord) throws -> Void

extension ImportCode {
  /// Refuses hooks where there are no objects that they could be given.
  func checkNoHooks() throws(ImportError) {
    let named = entities.filter { $0.value.postImport != nil }
      .map { String(decoding: $0.key, as: UTF8.self) }.sorted()
    guard !named.isEmpty else { return }
    throw ImportError(
      .request,
      "The mapper of \(named.joined(separator: ", ")) has a post-import hook, and an import straight"
        + " into the store makes no objects for it.",
      help: "import into a context, or by a mapper without the hook"
    )
  }
}

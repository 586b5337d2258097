extension Stack {
  /// Makes changes visible in main, and stores them in the background.
  ///
  /// - Throws: `ContextError`, `.conflict`, where main has changed the same since the changes were begun, or others by
  ///   a merge of their own.
  @MainActor func merge(
    _ changes: ChangeSet,
    since seen: ChangeSet,
    rivals: [RowKey: [Int: StoredValue]],
    into root: RootContext,
    policy: MergePolicy
  ) throws {
    // Keys of a store that was reset are those of other objects by now.
    let main = main
    guard main.root === root else { throw RootContext.closed() }
    var changes = changes
    let conflicts = changes.settle(
      beside: root.main.changes,
      since: seen,
      rivals: rivals,
      policy,
      root.layout
    )
    if let error = ContextError(conflicts, with: "in main") { throw error }
    main.settling.absorb(changes)
    root.notices.send(ChangeNotice(changes, root.layout))
    let wanted = root.main.changes.part(of: changes, isWhole: false)
    Task { [self] in
      do {
        try await storeMain((wanted, root), policy: policy)
      } catch {
        // The changes are pending in main: its next save tries again.
        failures.add(error)
      }
    }
  }
}

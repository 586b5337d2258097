extension ManagedObjectContext {
  /// Runs a closure with a child of this context, on the same thread; when it returns, the child's
  /// changes are unsaved changes of this context.
  ///
  /// The child sees this context's unsaved changes, and its own `save()` stores its changes at once.
  /// When the closure throws, its changes are dropped and this context is as it was.
  /// - Returns: What `body` returns; ids and values, no objects.
  /// - Throws: What `body` throws, and what the child's validation throws.
  public func nested<T: Sendable>(
    _ body: @Sendable (ManagedObjectContext) throws -> T
  ) throws -> T {
    try checkOpen()
    let child = ManagedObjectContext(.nested, root: root, parent: self)
    child.mergePolicy = mergePolicy
    defer { child.close() }
    let value = try body(child)
    settling.absorb(try child.changesToMerge())
    return value
  }
}

import DragomanGraph

/// Whether and how null comes back, by the policies of an attribute.
struct NullSpelling {
  /// Whether a null that is left out comes back as something else.
  private(set) var isNeeded = false
  /// Whether it does so even when it is written.
  private(set) var isLost = false

  /// Finds out for one attribute.
  ///
  /// - Parameters:
  ///   - slot: The attribute as it is read; nil where it is not.
  ///   - speller: The attribute as it is written.
  ///   - format: The format.
  ///   - path: Where its value stands.
  ///   - yieldsToName: Whether the name of the record is read where there is nothing.
  init(
    _ slot: EntityPlan.Slot?,
    _ speller: ValueSpeller,
    format: ForeignFormat,
    path: [ForeignPath.Step],
    yieldsToName: Bool
  ) {
    guard let slot, !slot.isKey else { return }
    let hasDefault = slot.attribute.defaultValue != nil
    func changes(_ policy: ValuePolicy) -> Bool {
      switch policy {
      case .clear: slot.attribute.isRequired
      case .keep, .default: hasDefault
      case .reject: true
      }
    }
    guard yieldsToName || changes(slot.policies.onMissing) else { return }
    let isAttribute = if case .attribute = path.last { true } else { false }
    let isWritable: Bool =
      switch format {
      case .json, .ndjson, .csv: true
      // An empty attribute is null where an empty text is; text() without text is missing.
      case .xml: isAttribute ? speller.readsEmptyAsNull : path.last != .text && !path.isEmpty
      }
    isLost = !isWritable || changes(slot.policies.onNull)
    isNeeded = !isLost
  }
}

import DragomanGraph

/// Whether and how null comes back, by the policies of an attribute.
struct NullSpelling {
  /// Whether what is read as null is null: no policy makes something else of it.
  private(set) var isTaken = true
  /// Whether a null can be written that is read as null.
  private(set) var isWritable = true
  /// Whether a null that is left out comes back as something else.
  private(set) var isNeeded = false
  /// Whether it does so even when it is written.
  private(set) var isLost = false

  /// Null comes back, however it is written.
  init() {}

  /// Takes note that what is left out is found at another place.
  mutating func stand() {
    isNeeded = isWritable
    isLost = !isWritable
  }

  /// Finds out for one attribute.
  ///
  /// - Parameters:
  ///   - slot: The attribute as it is read; nil where it is not.
  ///   - attribute: The attribute as the map has it.
  ///   - speller: The attribute as it is written.
  ///   - format: The format.
  ///   - path: Where its value stands.
  ///   - yieldsToName: Whether the name of the record is read where there is nothing.
  init(
    _ slot: EntityPlan.Slot?,
    _ attribute: Attribute,
    _ speller: ValueSpeller,
    format: ForeignFormat,
    path: [ForeignPath.Step],
    yieldsToName: Bool
  ) {
    guard let slot else { return }
    let hasDefault = attribute.defaultValue != nil
    func changes(_ policy: ValuePolicy) -> Bool {
      // A key that is missing or null is never kept or cleared.
      if slot.isKey { return attribute.isRequired || hasDefault || policy == .reject }
      return switch policy {
      case .clear: attribute.isRequired
      // An object that is there keeps what it has; a new one has none.
      case .keep, .default: attribute.isRequired || hasDefault
      case .reject: true
      }
    }
    let isAttribute = if case .attribute = path.last { true } else { false }
    let isPlaced =
      switch format {
      case .json, .ndjson, .csv: true
      // An empty attribute is null where an empty text is; text() without text is missing.
      case .xml: isAttribute ? speller.readsEmptyAsNull : path.last != .text && !path.isEmpty
      }
    isTaken = !changes(slot.policies.onNull)
    isWritable = isPlaced && isTaken
    let isMissed =
      slot.isKey ? attribute.isRequired || hasDefault : changes(slot.policies.onMissing)
    if yieldsToName || isMissed { stand() }
  }
}

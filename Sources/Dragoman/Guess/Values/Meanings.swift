/// What texts mean that are spelled otherwise than an import stores them, so that two of them may be one value:
/// `1.1` and `1.10`, `1.2.2024` and `01.02.2024`.
struct Meanings {
  /// How the texts of a place are read.
  enum Reading {
    /// As they are spelled.
    case spelled
    /// As numbers with a decimal point, or as dates with the day in front.
    case first
    /// As numbers with a decimal comma, or as dates with the month in front.
    case other
    /// In several ways at once, so that nobody can tell what one means by itself.
    case mixed
  }

  /// The hash of the meaning by that of the text; what is not in it means what it says.
  private var first: [UInt64: UInt64] = [:]
  /// The same for the other reading, where that gives something else.
  private var other: [UInt64: UInt64] = [:]
  private var isOpen = true

  /// Whether no text of the first reading is spelled otherwise than what it means.
  var areSpelled: Bool { isOpen && first.isEmpty }

  /// Whether it is known what every text means.
  func areKnown(as reading: Reading) -> Bool {
    switch reading {
    case .spelled: true
    case .first, .other: isOpen
    case .mixed: isOpen && other.isEmpty
    }
  }

  /// The hash of what a text means.
  ///
  /// - Parameters:
  ///   - text: The hash of the text.
  ///   - reading: How it is read.
  /// - Returns: The hash of the value as it would be spelled; that of the text, where it is.
  func of(_ text: UInt64, as reading: Reading) -> UInt64 {
    switch reading {
    case .spelled: text
    case .first, .mixed: first[text] ?? text
    case .other: other[text] ?? first[text] ?? text
    }
  }

  /// Sees a text that is a number or a date in some of the forms.
  mutating func see(
    _ text: UnsafeRawBufferPointer,
    hash: UInt64,
    _ forms: TextForms,
    _ reader: TextFormReader,
    _ budget: HashBudget
  ) {
    guard isOpen, !forms.contains(.whole), first[hash] == nil, other[hash] == nil else { return }
    let (own, swapped) = reader.meanings(of: text, forms)
    guard own != hash || swapped != hash else { return }
    guard budget.takes(4) else {
      (first, other, isOpen) = ([:], [:], false)
      return
    }
    if own != hash { first[hash] = own }
    if swapped != own { other[hash] = swapped }
  }

  /// Adds what is known of another place's texts.
  mutating func merge(_ added: Meanings) {
    isOpen = isOpen && added.isOpen
    first = isOpen ? first.merging(added.first) { own, _ in own } : [:]
    other = isOpen ? other.merging(added.other) { own, _ in own } : [:]
  }
}

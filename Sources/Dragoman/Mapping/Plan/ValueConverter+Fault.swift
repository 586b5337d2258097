extension ValueConverter {
  /// Whether a text that is no number would be one without the white space around it.
  func isNumberInSpace(_ text: UnsafeRawBufferPointer) -> Bool {
    let number = text.trimmed
    guard !trims, number.count < text.count else { return false }
    guard let numbers else { return PlainNumber(number, notation: .text) != nil }
    let capacity = NumberReader.capacity(byteCount: number.count)
    return withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) {
      numbers.plain(number, into: $0) > 0
    }
  }

  /// Why a value does not fit.
  enum Fault: Error, Sendable, Hashable {
    /// An object, an array, or a JSON type that the attribute does not take.
    case type
    case notANumber
    case fractional
    case outOfRange
    case tooManyDigits
    case tooLong
    case date
    case boolean
    case word
    case duration
    case uuid
    case url
    case data
    case blocked
    case repeated
    /// An element of a list of keys that does not have all parts of its key.
    case keyless
    /// A text with more keys than a record may have values.
    case tooManyKeys
    case limits
    case length
    case pattern
    /// A number of a dictionary that is none: NaN, infinity, or digits that JSON does not have.
    case notFinite
    /// A date of a dictionary outside of the years 0000 to 9999.
    case farDate
    /// A date of a dictionary for a date or time attribute without a declared zone.
    case zoneless
    /// A mapper's closure threw.
    case closure
    /// A mapper's closure gave a value that is not of the attribute's type.
    case closureType

    init(_ fault: NumberFault) {
      switch fault {
      case .fractional: self = .fractional
      case .outOfRange: self = .outOfRange
      case .tooManyDigits: self = .tooManyDigits
      case .tooLong: self = .tooLong
      }
    }
  }
}

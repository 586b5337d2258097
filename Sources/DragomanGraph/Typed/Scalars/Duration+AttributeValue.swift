extension CalendarDuration: AttributeValue {
  /// `duration`.
  public static var attributeType: AttributeType { .duration }

  /// Unboxes a duration.
  public init(unboxing value: ColumnValue) throws {
    guard case .text(let bytes) = value, let duration = CalendarDuration(bytes) else {
      throw ValueMismatch(expected: "a duration", found: value)
    }
    self = duration
  }

  /// Boxes the canonical text.
  public func box(into column: inout BoxingColumn) throws { try column.canonical(description) }
}

extension Duration: AttributeValue {
  /// `duration`.
  public static var attributeType: AttributeType { .duration }

  /// Unboxes hours, minutes and seconds; a duration with months or days has no fixed length.
  public init(unboxing value: ColumnValue) throws {
    let duration = try CalendarDuration(unboxing: value)
    guard duration.months == 0, duration.days == 0 else {
      throw ValueMismatch(
        expected: "a duration without months and days",
        beyond: duration.description
      )
    }
    self = .microseconds(duration.microseconds)
  }

  /// Boxes the duration, to the microsecond: finer parts are rounded, since clocks give them and the
  /// store does not keep them.
  public func box(into column: inout BoxingColumn) throws {
    let (seconds, attoseconds) = components
    let fraction = (attoseconds + attoseconds.signum() * 500_000_000_000) / 1_000_000_000_000
    let whole = seconds.multipliedReportingOverflow(by: 1_000_000)
    let total = whole.partialValue.addingReportingOverflow(fraction)
    guard !whole.overflow, !total.overflow,
      let duration = CalendarDuration(microseconds: total.partialValue)
    else {
      throw ValueMismatch(expected: "a duration of less than 292,000 years", beyond: description)
    }
    try column.canonical(duration.description)
  }
}

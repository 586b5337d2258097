extension BinaryFloatingPoint {
  /// The number as it is stored: SQLite keeps no negative zero.
  package var withoutNegativeZero: Self { self == 0 ? 0 : self }
}

import DragomanGraph

/// The checks of date formats, number formats and time zones that a map needs: the one place
/// where map files meet the formats' own compilers.
enum FormatChecks {
  /// What is wrong with the formats of an attribute, by their index; empty when they compile.
  static func faults(inDates formats: [String], type: AttributeType) -> [(Int, FormatFault)] {
    guard fault({ () throws(FormatFault) in try compile(formats, type) }) != nil else { return [] }
    return formats.enumerated().compactMap { index, format in
      fault { () throws(FormatFault) in try compile([format], type) }.map { (index, $0) }
    }
  }

  /// What is wrong with formats that serve dates, times and timestamps alike, by their index.
  static func faults(inDefaultDates formats: [String]) -> [(Int, FormatFault)] {
    formats.enumerated().compactMap { index, format in
      let types: [AttributeType] = [.timestamp, .date, .time]
      let faults = types.compactMap { type in
        fault { () throws(FormatFault) in try compile([format], type) }
      }
      return faults.count == types.count ? (index, faults[0]) : nil
    }
  }

  /// What is wrong with a number format.
  static func fault(in format: NumberFormat) -> FormatFault? {
    fault { () throws(FormatFault) in _ = try NumberReader(format: format) }
  }

  /// What is wrong with the name of a time zone.
  static func fault(inTimeZone name: String) -> FormatFault? {
    fault { () throws(FormatFault) in
      _ = try DateReader(formats: [], type: .timestamp, timeZone: name)
    }
  }

  private static func compile(_ formats: [String], _ type: AttributeType) throws(FormatFault) {
    _ = try DateReader(formats: formats, type: type, timeZone: nil)
  }

  private static func fault(_ body: () throws(FormatFault) -> Void) -> FormatFault? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }
}

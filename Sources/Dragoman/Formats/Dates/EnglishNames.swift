/// The English names of months, weekdays and zones that date formats are made of; case aside.
enum EnglishNames {
  static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]
  static let weekdays = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]

  /// Takes a month and gives 1 … 12: three letters, or the whole name.
  static func takeMonth(from cursor: inout ByteCursor, isWhole: Bool = false) -> Int? {
    let index: Int
    switch key(of: cursor) {
    case 0x6A_616E: index = 1
    case 0x66_6562: index = 2
    case 0x6D_6172: index = 3
    case 0x61_7072: index = 4
    case 0x6D_6179: index = 5
    case 0x6A_756E: index = 6
    case 0x6A_756C: index = 7
    case 0x61_7567: index = 8
    case 0x73_6570: index = 9
    case 0x6F_6374: index = 10
    case 0x6E_6F76: index = 11
    case 0x64_6563: index = 12
    default: return nil
    }
    return take(months[index - 1], isWhole: isWhole, from: &cursor) ? index : nil
  }

  /// Takes a weekday and gives 0 (Sunday) … 6: three letters, or the whole name.
  static func takeWeekday(from cursor: inout ByteCursor, isWhole: Bool = false) -> Int? {
    let index: Int
    switch key(of: cursor) {
    case 0x73_756E: index = 0
    case 0x6D_6F6E: index = 1
    case 0x74_7565: index = 2
    case 0x77_6564: index = 3
    case 0x74_6875: index = 4
    case 0x66_7269: index = 5
    case 0x73_6174: index = 6
    default: return nil
    }
    return take(weekdays[index], isWhole: isWhole, from: &cursor) ? index : nil
  }

  /// Takes `GMT`, `UTC`, `UT`, `Z` or a North American zone of RFC 2822 section 4.3; seconds east.
  ///
  /// Other abbreviations mean different zones in different places and are not taken.
  static func takeZone(from cursor: inout ByteCursor) -> Int? {
    let seconds: Int
    switch key(of: cursor) {
    case 0x67_6D74, 0x75_7463: seconds = 0
    case 0x65_6474: seconds = -4
    case 0x65_7374, 0x63_6474: seconds = -5
    case 0x63_7374, 0x6D_6474: seconds = -6
    case 0x6D_7374, 0x70_6474: seconds = -7
    case 0x70_7374: seconds = -8
    default:
      return cursor.take(word: "UT") || cursor.take(UInt8(ascii: "Z")) ? 0 : nil
    }
    cursor.skip(3)
    return seconds * 3600
  }

  /// The next three letters in lowercase, packed; 0 where they are no letters.
  private static func key(of cursor: ByteCursor) -> UInt32 {
    var key: UInt32 = 0
    for distance in 0..<3 {
      let byte = cursor.peek(distance)
      guard ASCII.isLetter(byte) else { return 0 }
      key = key << 8 | UInt32(byte | 0x20)
    }
    return key
  }

  /// Takes a name whose first three letters are known to be there.
  private static func take(_ name: String, isWhole: Bool, from cursor: inout ByteCursor) -> Bool {
    cursor.skip(3)
    guard isWhole else { return true }
    for byte in name.utf8.dropFirst(3) {
      guard ASCII.lowercase(cursor.next) == byte else { return false }
      cursor.skip(1)
    }
    return true
  }
}

/// A foreign name cut into words, and what names in Swift are made of them.
struct NameWords {
  /// The words in small letters; what is neither letter nor digit divides them.
  let words: [String]

  /// - Parameter name: `ticket_number`, `AlbumId`, `Depth (m)`, `HTMLText`.
  init(_ name: String) {
    var words: [String] = []
    var word = ""
    let letters = Array(name.unicodeScalars)
    for (index, letter) in letters.enumerated() {
      guard letter.properties.isAlphabetic || letter.properties.numericType != nil else {
        if !word.isEmpty { words.append(word) }
        word = ""
        continue
      }
      let isUpper = letter.properties.isUppercase
      let wasUpper = index > 0 && letters[index - 1].properties.isUppercase
      let isBeforeLower = index + 1 < letters.count && letters[index + 1].properties.isLowercase
      if isUpper, !word.isEmpty, !wasUpper || isBeforeLower {
        words.append(word)
        word = ""
      }
      word.unicodeScalars.append(letter)
    }
    if !word.isEmpty { words.append(word) }
    self.words = words.map { $0.lowercased() }
  }

  private init(words: [String]) { self.words = words }

  private static let maximumLength = 60

  /// A name for a property: `ticketNumber`.
  var property: String {
    guard let first = words.first else { return "value" }
    let whole = first + words.dropFirst().map(Self.capitalized).joined()
    let name = String(whole.prefix(Self.maximumLength))
    return name.unicodeScalars.first?.properties.numericType == nil ? name : "n" + name
  }

  /// A name for an entity: `TicketNumber`.
  var type: String {
    let name = String(words.map(Self.capitalized).joined().prefix(Self.maximumLength))
    guard let first = name.unicodeScalars.first else { return "Record" }
    return first.properties.numericType == nil ? name : "N" + name
  }

  /// The same with the last word in the singular.
  var singular: NameWords {
    guard let last = words.last else { return self }
    return NameWords(words: words.dropLast() + [Self.singular(of: last)])
  }

  /// The same without a date: `orders` of `orders-2024-01-31`; what is nothing but a date stays.
  var withoutDate: NameWords {
    var kept: [String] = []
    var isInDate = false
    for word in words {
      let digits = word.reversed().prefix(while: \.isNumber).count
      let number = word.suffix(digits)
      let isYear = [4, 6, 8, 12, 14].contains(digits) && ["19", "20"].contains(number.prefix(2))
      // Month and day, or the time, stand behind the year.
      isInDate = isYear || (isInDate && digits == word.count && digits <= 6)
      let rest = isInDate ? String(word.dropLast(digits)) : word
      if !rest.isEmpty { kept.append(rest) }
    }
    return kept.isEmpty ? self : NameWords(words: kept)
  }

  /// Whether a text begins with a year, as `20240131` does, and `2024-01-31`.
  static func isDate(_ text: String) -> Bool {
    guard ["19", "20"].contains(text.prefix(2)), text.first?.isNumber == true else { return false }
    return [8, 12, 14].contains(text.count) && text.allSatisfy(\.isNumber)
      || text.prefix(4).allSatisfy(\.isNumber) && text.dropFirst(4).first == "-" && text.count >= 10
  }

  /// Whether the last word is a plural.
  var isPlural: Bool { singular.words != words }

  /// The same with the last word in the plural.
  var plural: NameWords {
    guard let last = words.last, !isPlural else { return self }
    return NameWords(words: words.dropLast() + [Self.plural(of: last)])
  }

  private static func plural(of word: String) -> String {
    if let known = irregular.first(where: { $0.value == word && $0.key != word }) {
      return known.key
    }
    let isPlural = irregular[word] != nil
    let prepositions: Set = ["of", "by", "to", "for", "in", "on", "at", "with", "from"]
    if isPlural || prepositions.contains(word) { return word }
    if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) {
      return word.dropLast() + "ies"
    }
    let hisses = ["s", "x", "z", "ch", "sh"].contains(where: word.hasSuffix)
    return word + (hisses ? "es" : "s")
  }

  private static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  private static let irregular = [
    "people": "person", "children": "child", "men": "man", "women": "woman", "data": "data",
    "series": "series", "species": "species", "news": "news", "addresses": "address",
    "statuses": "status", "moves": "move", "movies": "movie", "media": "media", "gps": "gps",
    "sms": "sms", "dns": "dns", "heroes": "hero", "potatoes": "potato", "tomatoes": "tomato",
    "echoes": "echo", "curies": "curie", "cookies": "cookie", "calories": "calorie",
    "zombies": "zombie",
  ]

  private static func singular(of word: String) -> String {
    if let known = irregular[word] { return known }
    if word.hasSuffix("ies"), word.count > 4 { return word.dropLast(3) + "y" }
    for ending in ["sses", "xes", "ches", "shes", "zzes"] where word.hasSuffix(ending) {
      return String(word.dropLast(2))
    }
    let isPlural =
      word.hasSuffix("s") && !["ss", "us", "is", "as"].contains(String(word.suffix(2)))
    return isPlural && word.count > 2 ? String(word.dropLast()) : word
  }
}

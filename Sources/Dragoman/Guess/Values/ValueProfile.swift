/// What the scalar values of a place are: in which forms they are written, which and how many there are.
///
/// It is changed with each value, by one thread, and no access runs code of others: exclusive access needs no
/// check at run time. So it is with all that is kept of a place.
///
/// Large because it counts what values are like: each property is one thing that decides their type.
final class ValueProfile {
  /// A text and how often it came.
  struct Word {
    let hash: UInt64
    let text: String
    var count: Int
  }

  @exclusivity(unchecked) private(set) var numbers = NumberProfile()
  /// Texts that are not empty.
  @exclusivity(unchecked) private(set) var textCount = 0
  @exclusivity(unchecked) private(set) var emptyCount = 0
  @exclusivity(unchecked) private(set) var longestText = 0
  @exclusivity(unchecked) private(set) var shortestText = Int.max
  /// Whether all texts are letters and digits, or have a dash between them.
  @exclusivity(unchecked) private(set) var isCodes = true
  /// How often texts were of each combination of forms; empty once a text was of none.
  var forms: [TextForms: Int] {
    Dictionary(uniqueKeysWithValues: formCounts.map { ($0.forms, $0.count) })
  }
  /// The same; they are few, and one is looked for with each text.
  @exclusivity(unchecked) private var formCounts: [(forms: TextForms, count: Int)] = []
  @exclusivity(unchecked) private var known: TextForms = []
  /// Whether a text was of no form: then all are texts.
  @exclusivity(unchecked) private(set) var isPlainText = false
  /// The most and the fewest digits behind the last point, and behind the last comma.
  @exclusivity(unchecked) private(set) var fractions = FractionDigits()
  /// The sign of a currency that numbers in texts have.
  @exclusivity(unchecked) private(set) var currency = SeenCurrency()
  /// Words that stand for no value, and how often they came.
  @exclusivity(unchecked) private(set) var sentinels: [Word] = []
  /// The first different texts, while they are few.
  @exclusivity(unchecked) private(set) var words: [Word] = []
  @exclusivity(unchecked) private(set) var hasManyWords = false
  /// The different values.
  @exclusivity(unchecked) private var differentValues = DistinctValues()
  /// What the texts mean where that is spelled otherwise.
  @exclusivity(unchecked) private(set) var meanings = Meanings()
  /// The keys of which the texts are lists.
  @exclusivity(unchecked) private(set) var lists = TextLists()

  private static let maximumWordCount = 16
  private static let maximumWordLength = 40
  /// A value of more bytes is no key.
  private static let maximumKeyLength = 128
  private static let maximumFormCount = 24

  /// Sees a number, and returns the hash of its digits.
  func see(number digits: UnsafeRawBufferPointer, _ budget: HashBudget) -> UInt64 {
    // The only whole number with two spellings is zero.
    let isZero =
      digits.count == 2 && digits[0] == UInt8(ascii: "-") && digits[1] == UInt8(ascii: "0")
    let hash = HashSet.hash(of: isZero ? digits.dropping(first: 1) : digits)
    numbers.see(digits)
    if numbers.isWhole {
      differentValues.insert(hash, budget)
    } else {
      differentValues.exclude()
    }
    return hash
  }

  /// Sees a boolean, and returns its hash.
  func see(boolean value: Bool) -> UInt64 {
    differentValues.exclude()
    return value ? 2 : 1
  }

  /// Sees a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - reader: Tells its forms.
  ///   - budget: What all places together may keep.
  ///   - isPart: Whether it may be part of a key, or names an object, also where it came before: else nobody asks
  ///     what a text means that did.
  /// - Returns: The hash of its bytes.
  func see(
    text: UnsafeRawBufferPointer,
    _ reader: TextFormReader,
    _ budget: HashBudget,
    isPart: Bool = true
  ) -> UInt64 {
    guard !text.isEmpty else {
      emptyCount += 1
      return 3
    }
    let hash = HashSet.hash(of: text)
    longestText = max(longestText, text.count)
    shortestText = min(shortestText, text.count)
    if isCodes { isCodes = Self.isCode(text) }
    if !hasManyWords { countWord(hash, text) }
    if isPlainText || known.isEmpty || known.isNumber {
      lists.see(text, earlier: { self.distinct }, budget)
    }
    if text.count <= Self.maximumKeyLength {
      differentValues.insert(hash, budget)
    } else {
      differentValues.exclude()
    }
    textCount += 1
    if TextFormReader.isSentinel(text) {
      count(hash, text, in: &sentinels)
      return hash
    }
    guard !isPlainText else { return hash }
    // What earlier texts were is tried first.
    var form = known.isEmpty ? [] : reader.forms(of: text, among: known)
    if form.isEmpty { form = reader.forms(of: text, among: .all) }
    let place = formCounts.firstIndex { $0.forms == form }
    if form.isEmpty || (place == nil && formCounts.count == Self.maximumFormCount) {
      isPlainText = true
      formCounts = []
    } else {
      if let place { formCounts[place].count += 1 } else { formCounts.append((form, 1)) }
      known.formUnion(form)
      if form.isNumber {
        fractions.see(text)
        currency.see(text)
      } else if form.isDate {
        fractions.see(time: text)
      }
      if isPart || differentValues.mayBeKey, form.isNumber || form.isDate {
        meanings.see(text, hash: hash, form, reader, budget)
      }
    }
    return hash
  }

  /// Adds what another place has.
  func merge(_ other: ValueProfile) {
    numbers.merge(other.numbers)
    textCount += other.textCount
    emptyCount += other.emptyCount
    longestText = max(longestText, other.longestText)
    shortestText = min(shortestText, other.shortestText)
    isCodes = isCodes && other.isCodes
    isPlainText = isPlainText || other.isPlainText
    known.formUnion(other.known)
    let merged = isPlainText ? [:] : forms.merging(other.forms) { $0 + $1 }
    formCounts = merged.map { ($0.key, $0.value) }
    currency.merge(other.currency)
    fractions.merge(other.fractions)
    meanings.merge(other.meanings)
    for word in other.sentinels { add(word, to: &sentinels) }
    for word in other.words where !hasManyWords { add(word, to: &words) }
    hasManyWords = hasManyWords || other.hasManyWords || words.count > Self.maximumWordCount
    lists.merge(other.lists, distinct, other.distinct)
    differentValues.merge(other.differentValues)
  }

  /// The hashes of the different values; nil where they are too many or too long to tell.
  var distinct: HashSet? { differentValues.hashes }

  /// Whether so many values were seen, no two of which are one for an import.
  ///
  /// - Parameters:
  ///   - count: How many values there have to be.
  ///   - isEach: Whether only values of one sample are held against each other.
  ///   - reading: How texts are read.
  /// - Returns: Whether it is so; false where that is not known.
  func areUnique(
    _ count: Int,
    inEachSample isEach: Bool = false,
    as reading: Meanings.Reading
  ) -> Bool {
    meanings.areKnown(as: reading)
      && differentValues.areUnique(count, inEachSample: isEach) { meanings.of($0, as: reading) }
  }

  /// Whether no two different texts are one value for an import.
  func areApart(as reading: Meanings.Reading) -> Bool {
    guard meanings.areKnown(as: reading), let distinct else { return false }
    var seen = HashSet()
    return distinct.allSatisfy { seen.insert(meanings.of($0, as: reading)) }
  }

  /// How many values there were, all different, when there was no more room for them; 0: there always was, or
  /// two were the same.
  var firstDistinctCount: Int { differentValues.firstCount }

  /// How many different values there are, where that is known.
  var distinctCount: Int? { distinct?.count }

  /// Whether all texts are codes of one length, as those of standards are.
  var areCodes: Bool { isCodes && longestText == shortestText && longestText <= 16 }

  private static func isCode(_ text: UnsafeRawBufferPointer) -> Bool {
    text.count <= 16
      && text.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") }
  }

  private func countWord(_ hash: UInt64, _ text: UnsafeRawBufferPointer) {
    if text.count > Self.maximumWordLength || words.count > Self.maximumWordCount {
      hasManyWords = true
      words = []
    } else {
      count(hash, text, in: &words)
    }
  }

  private func count(_ hash: UInt64, _ text: UnsafeRawBufferPointer, in words: inout [Word]) {
    if let place = words.firstIndex(where: { $0.hash == hash }) {
      words[place].count += 1
    } else {
      words.append(Word(hash: hash, text: String(decoding: text, as: UTF8.self), count: 1))
    }
  }

  private func add(_ word: Word, to words: inout [Word]) {
    if let place = words.firstIndex(where: { $0.hash == word.hash }) {
      words[place].count += word.count
    } else {
      words.append(word)
    }
  }
}

/// The sign or code of a currency that amounts have.
struct SeenCurrency {
  private var sign: String?
  /// Whether there were several.
  private(set) var isMixed = false

  mutating func see(_ text: UnsafeRawBufferPointer) {
    guard text.contains(where: { !ASCII.isDigit($0) && !" .,'-+()%".utf8.contains($0) }) else {
      return
    }
    let scalars = String(decoding: text, as: UTF8.self).unicodeScalars.filter {
      $0.properties.isAlphabetic || $0.properties.generalCategory == .currencySymbol
    }
    if !scalars.isEmpty { add(String(String.UnicodeScalarView(scalars))) }
  }

  mutating func merge(_ other: SeenCurrency) {
    isMixed = isMixed || other.isMixed
    if let sign = other.sign { add(sign) }
  }

  private mutating func add(_ found: String) {
    if let sign { isMixed = isMixed || sign != found } else { sign = found }
  }
}

/// The digits behind the last point and behind the last comma of numbers in texts.
struct FractionDigits {
  private(set) var point: ClosedRange<Int>?
  private(set) var comma: ClosedRange<Int>?
  /// Whether several digits behind a point end in a zero, as those of versions do and computed ones do not.
  private(set) var endInZero = false
  /// Whether seconds have more digits than microseconds.
  private(set) var isBelowMicroseconds = false

  /// Sees the text of a date or time.
  mutating func see(time text: UnsafeRawBufferPointer) {
    guard !isBelowMicroseconds, text.contains(UInt8(ascii: ":")) else { return }
    isBelowMicroseconds =
      max(
        Self.digits(behind: UInt8(ascii: "."), in: text),
        Self.digits(behind: UInt8(ascii: ","), in: text)
      ) > 6
  }

  /// The notation in which the only separator of all values divides thousands, where it may as well be the decimal one;
  /// nil: it cannot be both.
  ///
  /// - Parameter places: The notations that take all values.
  /// - Returns: The likeliest such notation, and the separator's name.
  func grouping(among places: [Int]) -> (place: Int, separator: String)? {
    for (separator, digits, name) in [(",", comma, "comma"), (".", point, "point")]
    where digits?.upperBound == 3 {
      let formats = TextForms.numberFormats
      // Shares have digits behind the point, and are never that large.
      guard places.contains(where: { formats[$0].decimal == separator }),
        let place = places.first(where: {
          formats[$0].group == separator && formats[$0].style != .percent
        })
      else { continue }
      return (place, name)
    }
    return nil
  }

  mutating func see(_ text: UnsafeRawBufferPointer) {
    let pointDigits = Self.digits(behind: UInt8(ascii: "."), in: text)
    if pointDigits > 1, text.last == UInt8(ascii: "0") { endInZero = true }
    Self.add(pointDigits, to: &point)
    Self.add(Self.digits(behind: UInt8(ascii: ","), in: text), to: &comma)
  }

  mutating func merge(_ other: FractionDigits) {
    endInZero = endInZero || other.endInZero
    isBelowMicroseconds = isBelowMicroseconds || other.isBelowMicroseconds
    if let range = other.point {
      Self.add(range.lowerBound, to: &point)
      Self.add(range.upperBound, to: &point)
    }
    if let range = other.comma {
      Self.add(range.lowerBound, to: &comma)
      Self.add(range.upperBound, to: &comma)
    }
  }

  private static func digits(behind separator: UInt8, in text: UnsafeRawBufferPointer) -> Int {
    guard let place = text.lastIndex(of: separator) else { return 0 }
    return text[(place + 1)...].prefix { ASCII.isDigit($0) }.count
  }

  private static func add(_ count: Int, to range: inout ClosedRange<Int>?) {
    range = range.map { min($0.lowerBound, count)...max($0.upperBound, count) } ?? count...count
  }
}

/// How many hashes all places together may keep.
final class HashBudget {
  private var free: Int
  /// The number of the sample that is read: what is unique, is so in one.
  var sample = 0

  /// - Parameter free: How many hashes there is room for.
  init(free: Int = 6 << 20) { self.free = free }

  /// Takes what a set needs to double; false where there is not so much.
  func grows(from capacity: Int) -> Bool {
    let more = max(16, capacity)
    guard free >= more else { return false }
    free -= more
    return true
  }

  /// Takes room for so many; false where there is none.
  func takes(_ count: Int) -> Bool {
    guard free >= count else { return false }
    free -= count
    return true
  }

  /// Gives back what a set had.
  func release(_ capacity: Int) { free += capacity }
}

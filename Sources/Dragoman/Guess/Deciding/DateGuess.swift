import DragomanGraph

/// The date formats that together take all texts of a place.
struct DateGuess {
  private(set) var type = AttributeType.date
  private(set) var formats: [String] = []
  private(set) var remarks: [String] = []

  /// How the texts are read.
  var reading: Meanings.Reading {
    guard formats.count == 1 else { return .mixed }
    return TextForms.dateForms.contains { $0.format == formats[0] && $0.isMonthFirst }
      ? .other : .first
  }

  /// Whether the formats have to be written: they are not those that the type has anyway.
  var isDeclared: Bool {
    switch type {
    case .string: false
    case .date: formats != ["iso8601-date"]
    case .timestamp: formats != ["iso8601"]
    default: true
    }
  }

  private static let maximumCount = 4

  /// Chooses as few formats as take all texts, the likelier first; nil where none do.
  init?(_ forms: [TextForms: Int], _ conventions: Conventions) {
    for type in [AttributeType.date, .timestamp, .time] {
      guard let places = Self.cover(forms, [type]) else { continue }
      take(places, as: type, forms, conventions)
      return
    }
    guard let places = Self.cover(forms, [.timestamp, .date]) else { return nil }
    let times = places.filter { TextForms.dateForms[$0].type == .timestamp }
    guard !times.isEmpty else { return nil }
    remarks.append("some are dates alone: read as midnight")
    take(times + places.filter { !times.contains($0) }, as: .timestamp, forms, conventions)
  }

  private mutating func take(
    _ places: [Int],
    as type: AttributeType,
    _ forms: [TextForms: Int],
    _ conventions: Conventions
  ) {
    self.type = type
    formats = places.map { TextForms.dateForms[$0].format }
    let hasBothOrders = places.contains { place in
      TextForms.dateForms[place].swapped.map(formats.contains) == true
    }
    if hasBothOrders {
      self.type = .string
      formats = []
      remarks = [
        "dates, with the day before the month in some and behind it in others: kept as text"
      ]
    }
    for (index, place) in places.enumerated() where !formats.isEmpty {
      settle(index, place, forms, conventions)
    }
  }

  /// The places of formats of a type that take all texts.
  private static func cover(_ forms: [TextForms: Int], _ types: [AttributeType]) -> [Int]? {
    var open = forms
    var places: [Int] = []
    while !open.isEmpty {
      var best: (place: Int, count: Int)?
      for (place, form) in TextForms.dateForms.enumerated() where types.contains(form.type) {
        let count = open.reduce(0) { $0 + ($1.key.contains(.date(place)) ? $1.value : 0) }
        if count > best?.count ?? 0 { best = (place, count) }
      }
      guard let best, places.count < maximumCount else { return nil }
      places.append(best.place)
      open = open.filter { !$0.key.contains(.date(best.place)) }
    }
    return places.isEmpty ? nil : places
  }

  /// Says where day and month cannot be told, and takes the order of the rest of the feed.
  private mutating func settle(
    _ index: Int,
    _ place: Int,
    _ forms: [TextForms: Int],
    _ conventions: Conventions
  ) {
    guard let swapped = TextForms.dateForms[place].swapped,
      let other = TextForms.dateForms.firstIndex(where: { $0.format == swapped })
    else { return }
    let own = forms.keys.filter { $0.contains(.date(place)) }
    guard own.allSatisfy({ $0.contains(.date(other)) }) else { return }
    let isMonthFirst = conventions.isMonthFirst
    if let isMonthFirst, isMonthFirst != formats[index].lowercased().hasPrefix("m") {
      formats[index] = swapped
    }
    remarks.append(
      isMonthFirst == nil
        ? "ambiguous: no day is above 12, it may be \(swapped)"
        : "ambiguous here: day and month stand as elsewhere in the feed"
    )
  }
}

/// What the whole feed says of how numbers and dates are written.
struct Conventions {
  let format: ForeignFormat
  /// The notation of numbers that some place cannot do without: its place among the formats.
  private(set) var number: Int?
  /// Whether other places cannot do without the other one.
  private(set) var hasBothNumbers = false
  /// Whether months stand before days, where some place tells.
  private(set) var isMonthFirst: Bool?

  /// Whether every value of the format is text.
  var isTextual: Bool { format == .xml || format == .csv }
  var isXML: Bool { format == .xml }

  /// Looks at all places.
  init(_ format: ForeignFormat, _ root: FeedShape) {
    self.format = format
    see(root)
  }

  private mutating func see(_ shape: FeedShape) {
    if !shape.values.isPlainText { see(shape.values.forms) }
    for member in shape.members { see(member) }
    if let rest = shape.others { see(rest) }
    if let element = shape.element { see(element) }
  }

  private mutating func see(_ forms: [TextForms: Int]) {
    guard !forms.isEmpty else { return }
    if !hasBothNumbers, forms.keys.allSatisfy(\.isNumber) {
      let certain = TextForms.numberFormats.indices.prefix(2).first { place in
        forms.keys.allSatisfy { $0.contains(.number(place)) }
          && (place == 1
            || forms.keys.contains { !$0.contains(.plainDecimal) && !$0.contains(.whole) })
          && forms.keys.contains { !$0.contains(.number(1 - place)) }
      }
      if let number, let certain, certain != number { hasBothNumbers = true }
      number = number ?? certain
    }
    if isMonthFirst == nil {
      for form in TextForms.dateForms.indices {
        guard let swapped = TextForms.dateForms[form].swapped,
          let other = TextForms.dateForms.firstIndex(where: { $0.format == swapped }),
          forms.keys.contains(where: { $0.contains(.date(form)) && !$0.contains(.date(other)) }),
          !forms.keys.contains(where: { !$0.contains(.date(form)) })
        else { continue }
        isMonthFirst = TextForms.dateForms[form].format.lowercased().hasPrefix("m")
        return
      }
    }
  }
}

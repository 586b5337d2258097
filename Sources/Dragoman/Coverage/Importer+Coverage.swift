import DragomanGraph
import Foundation

extension Importer {
  /// Tries an import, and tells what the feed has and the map reads of it.
  ///
  /// Nothing is kept: it is a dry run. The inputs are read twice, first by the map, then as `MapGuess`
  /// reads samples; in constant memory, so of very many different values there is a number that they
  /// are at least.
  ///
  /// - Parameter request: What to import; standard input and pipes cannot be read twice.
  /// - Returns: The report of the import, and the coverage.
  /// - Throws: `ImportFailure` as `run(_:)`, `ReadError` where an input cannot be read again.
  public func check(
    _ request: ImportRequest
  ) async throws -> (report: ImportReport, coverage: FeedCoverage) {
    if let input = request.inputs.first(where: { !$0.isReadTwice }) {
      let name = input == .standardInput ? "Standard input" : input.name
      throw ReadError(
        .unsupported,
        "\(name) cannot be read twice, as the coverage of a feed wants.",
        help: "write it to a file first"
      )
    }
    let request = try await withCheckedThrowingContinuation { done in
      WorkThread.start("dragoman.fetch") {
        done.resume(with: Result { try request.fetching(by: self.map) })
      }
    }
    let recorder = CoverageRecorder()
    let report = try await run(
      request.with {
        $0.isDryRun = true
        $0.observer = recorder
      }
    )
    var coverage = FeedCoverage(entities: recorder.entities(report))
    let shapes = try await withCheckedThrowingContinuation { done in
      WorkThread.start("dragoman.shape") {
        done.resume(with: Result { try CoverageShapes(of: request, self.map, self.code) })
      }
    }
    coverage.unread = shapes.unread
    for entity in coverage.entities.indices {
      for index in coverage.entities[entity].attributes.indices {
        let name = coverage.entities[entity].attributes[index].attribute.name
        coverage.entities[entity].attributes[index].suggestion =
          shapes.suggestion(for: name, of: coverage.entities[entity].name)
      }
    }
    return (report, coverage)
  }
}

/// What the shape of the inputs tells of a map.
private struct CoverageShapes: Sendable {
  private(set) var unread: [FeedCoverage.UnreadPlace] = []
  private var suggestions: [String: [String: String]] = [:]

  /// Reads the inputs, one by one, so that only one shape is in memory.
  init(of request: ImportRequest, _ map: ImportMap, _ code: ImportCode) throws {
    var guesses: [Place: (shape: FeedShape, conventions: Conventions)] = [:]
    var order: [Place] = []
    let model = code.model ?? map.model()
    for input in request.inputs {
      if case .records = input { continue }
      var reader = SampleReader(
        try ShapeRecorder(recordLimit: request.limit ?? .max),
        of: request,
        by: map
      )
      do {
        try reader.read(input)
      } catch let error as ReadError where error.code == .noRecords {
        // What has no records has nothing that is read or unread.
        continue
      }
      guard let sample = reader.sample else { continue }
      let names = request.sourcesByInput[input.name] ?? request.sources
      let plan = try ImportPlan(map, format: sample.format, names: names, model: model, code: code)
      let places = ReadPlaces(plan, sample)
      add(UnreadPlaces(places, sample, beside: map.sources).all)
      let conventions = Conventions(sample.format, sample.root)
      for (entity, slot, values) in places.attributes where slot.attribute.type == .string {
        let place = Place(entity: entity, attribute: slot.attribute.name)
        if guesses[place] == nil {
          guesses[place] = (FeedShape(), conventions)
          order.append(place)
        }
        for value in values { guesses[place]?.shape.merge(value.shape) }
      }
    }
    for place in order {
      guard let (shape, conventions) = guesses[place],
        let text = Self.suggestion(shape, place.attribute, conventions)
      else { continue }
      suggestions[place.entity, default: [:]][place.attribute] = text
    }
  }

  private struct Place: Hashable {
    let entity: String
    let attribute: String
  }

  /// What an attribute may be declared as instead of a string.
  func suggestion(for attribute: String, of entity: String) -> String? {
    suggestions[entity]?[attribute]
  }

  private mutating func add(_ places: [FeedCoverage.UnreadPlace]) {
    for place in places {
      let known = unread.firstIndex {
        $0.entity == place.entity && hasSameBytes($0.path, place.path)
      }
      if let known {
        unread[known].count += place.count
        if unread[known].kind != place.kind { unread[known].kind = .mixed }
      } else if unread.count < FeedCoverage.maximumUnreadCount {
        unread.append(place)
      }
    }
  }

  /// What all values agree with, where that is more than a text.
  private static func suggestion(
    _ shape: FeedShape,
    _ name: String,
    _ conventions: Conventions
  ) -> String? {
    guard shape.kinds.scalars > 1, shape.kinds.arrays == 0 else { return nil }
    let guess = TypeGuess(shape, name: NameWords(name), conventions)
    guard guess.type != .string, guess.type != .json else { return nil }
    let entries = guess.entries.map { "\($0.key): \($0.value)" }
    return (["type: \(guess.type.rawValue)"] + entries).joined(separator: ", ")
  }
}

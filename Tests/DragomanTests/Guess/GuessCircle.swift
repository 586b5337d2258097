import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// A guessed map tried on its own sample: checked, imported, imported again, exported, imported from there.
struct GuessCircle {
  let guess: MapGuess
  /// The members whose spelling an export changes, without their indexes; nil where it was not compared.
  private(set) var changedMembers: Set<String>?

  /// Goes all the way, and expects that nothing is lost on it.
  init(
    _ inputs: [ImportInput],
    _ options: MapGuess.Options = MapGuess.Options(),
    exports: Bool = true
  ) async throws {
    guess = try MapGuess(of: inputs, options)
    #expect(try MapGuess(of: inputs, options).text == guess.text)
    let map = try ImportMap(yaml: guess.text)
    #expect(map.lint().map(\.description) == [], "\(guess.text)")
    let store = try SQLiteStore(at: .inMemory)
    let first = try await Importer(map: map, store: store).run(ImportRequest(inputs))
    #expect(first.status == .done, "\(first.issues)\n\(guess.text)")
    #expect(first.issues.map { "\($0.code.rawValue) \($0.attribute ?? "")" } == [], "\(guess.text)")
    #expect(first.counts.read > 0)
    #expect(first.unmatchedPaths.isEmpty, "\(first.unmatchedPaths)\n\(guess.text)")
    let again = try await Importer(map: map, store: store).run(ImportRequest(inputs))
    #expect(again.counts.unchanged == first.counts.read, "\(again.counts)\n\(guess.text)")
    guard exports else { return }
    let copy = try SQLiteStore(at: .inMemory)
    var written: Set<String> = []
    for source in map.sources {
      let request = ExportRequest(entity: source.entity, format: source.format)
      let bytes = try await Exporter(map: map, store: store).bytes(request)
      // A key with the file in it is the same for a file of the same name.
      let name = inputs.count == 1 ? inputs[0].name : "export.\(source.format.rawValue)"
      var back = ImportRequest([.bytes(bytes, name: name)])
      back.sources = [source.name]
      let unchanged = try await Importer(map: map, store: store).run(back)
      #expect(unchanged.counts.unchanged == unchanged.counts.read, "\(unchanged.counts) \(source)")
      if source.format == .json { written.formUnion(try Self.leaves(Data(bytes))) }
      let whole = map.sources.count == 1
      guard whole else { continue }
      _ = try await Importer(map: map, store: copy).run(back)
      for entity in map.entities {
        #expect(try Self.rows(entity.name, copy) == Self.rows(entity.name, store), "\(entity.name)")
      }
    }
    guard map.sources.allSatisfy({ $0.format == .json }), inputs.count == 1,
      case .file(let path) = inputs[0]
    else { return }
    let given = try Self.leaves(try Data(contentsOf: URL(fileURLWithPath: path)))
    let places = map.sources.map {
      ($0.records?.text ?? "").replacing("/", with: ".").replacing("*", with: "")
    }
    changedMembers = Set(
      given.subtracting(written).filter { leaf in places.contains { leaf.hasPrefix($0) } }
        .map(Self.member)
    )
  }

  private static func rows(_ entity: String, _ store: SQLiteStore) throws -> Int {
    try store.count(FetchRequest(entity))
  }

  private static func member(_ leaf: String) -> String {
    String(leaf.prefix { $0 != "=" }.replacing(/\[\d+\]/, with: ""))
  }

  private static func leaves(_ data: Data) throws -> Set<String> {
    leaves(try JSONSerialization.jsonObject(with: data))
  }

  /// The scalars of a value, each behind the way to it; nulls and the places of records are left out.
  private static func leaves(_ value: Any, _ path: String = "") -> Set<String> {
    switch value {
    case let object as [String: Any]:
      object.reduce(into: []) { $0.formUnion(leaves($1.value, "\(path).\($1.key)")) }
    case let list as [Any]: list.reduce(into: []) { $0.formUnion(leaves($1, path)) }
    case is NSNull: []
    case let number as NSNumber: ["\(path)=\(number.doubleValue)"]
    default: ["\(path)=\(value)"]
    }
  }
}

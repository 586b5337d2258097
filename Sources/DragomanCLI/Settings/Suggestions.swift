import ArgumentParser
import DragomanGraph
import DragomanPostgreSQL
import Foundation

/// What may stand at the cursor of a command line, by the database or the settings that the line means.
///
/// A shell asks for it while somebody types: where something is missing or faulty there is just nothing to suggest.
struct Suggestions {
  private let words: [String]

  /// - Parameter words: The words of the command line.
  init(_ words: [String]) { self.words = words }

  /// The names of the entities.
  var entities: [String] { layout?.entities.map(\.name) ?? [] }

  /// The names of entities that a list does not have yet, behind what is typed of it: `Order,Cu`.
  func entities(behind typed: String) -> [String] {
    let named = typed.split(separator: ",", omittingEmptySubsequences: false).dropLast()
    let start = named.map { $0 + "," }.joined()
    return entities.filter { !named.contains($0[...]) }.map { start + $0 }
  }

  /// The names of the feeds.
  var feeds: [String] {
    (try? ToolSettings.find(named: value(of: ["--config"])))?.feeds.map(\.name) ?? []
  }

  /// Key paths of the entity that the line names, behind what is typed of them.
  ///
  /// - Parameter typed: What is typed: `lastName,-company.na`.
  /// - Returns: The whole words, up to the next point of a path.
  func paths(behind typed: String) -> [String] {
    let named = Set(words.flatMap { $0.split { ",=".contains($0) } })
    guard let layout, var entity = layout.entities.first(where: { named.contains($0.name[...]) })
    else { return [] }
    let last = typed.lastIndex { ",- (".contains($0) }.map { typed.index(after: $0) }
    var start = String(typed[..<(last ?? typed.startIndex)])
    let steps = typed[(last ?? typed.startIndex)...].split(
      separator: ".",
      omittingEmptySubsequences: false
    )
    for step in steps.dropLast() {
      guard let link = entity.relationships.first(where: { $0.name == String(step) }) else {
        return []
      }
      entity = layout.entities[link.destination]
      start += step + "."
    }
    let names = entity.attributes.map(\.name) + entity.relationships.map { $0.name + "." }
    return names.map { start + $0 }
  }

  private var layout: ModelLayout? {
    var options = DatabaseOptions()
    options.named = value(of: ["-d", "--database"])
    options.config = value(of: ["--config"])
    // A server is not waited for while somebody types.
    guard let path = try? options.choice().path, !PostgreSQLServer.isURL(path) else { return nil }
    let store = try? SQLiteStore(
      at: .file(path),
      options: SQLiteStore.Options(isReadOnly: true, createsFile: false, readsConcurrently: false)
    )
    return store?.layout
  }

  /// The value of an option on the line.
  private func value(of names: [String]) -> String? {
    for (index, word) in words.enumerated() {
      if names.contains(word), index + 1 < words.count { return words[index + 1] }
      for name in names where word.hasPrefix(name + "=") {
        return String(word.dropFirst(name.count + 1))
      }
    }
    return nil
  }
}

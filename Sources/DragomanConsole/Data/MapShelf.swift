import Dragoman
import DragomanGraph
import Foundation

/// The maps that the console was started with, read anew whenever they are asked for.
struct MapShelf: Sendable {
  /// One of them.
  struct Item: Sendable {
    /// Its place in the list, from 0.
    let number: Int
    /// The file.
    let path: String
    /// The map, or what is wrong with it.
    let map: Result<ImportMap, MapFaults>

    /// The file's name.
    var name: String { FilePath.name(of: path) }
  }

  /// The files.
  let paths: [String]

  /// All of them.
  var items: [Item] { paths.indices.map { item($0) } }

  /// One by its place.
  ///
  /// - Throws: `ConsoleError` where there is none.
  func item(at text: String) throws(ConsoleError) -> Item {
    guard let number = Int(text), paths.indices.contains(number) else {
      throw ConsoleError(
        400,
        paths.isEmpty ? "The console was started without a map." : "There is no such map.",
        help: ConsoleWords.map
      )
    }
    return item(number)
  }

  private func item(_ number: Int) -> Item {
    let path = paths[number]
    do throws(MapFaults) {
      return Item(number: number, path: path, map: .success(try ImportMap(contentsOf: path)))
    } catch {
      return Item(number: number, path: path, map: .failure(error))
    }
  }
}

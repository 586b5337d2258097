extension RunCommand {
  /// What is to be known of feeds of one database before they are run.
  func notes(on feeds: [ToolSettings.Feed], _ settings: ToolSettings) -> [String] {
    var databases: [String: String] = [:]
    var pruning: [Pruned: [String]] = [:]
    var isShared = false
    for feed in feeds {
      // What is wrong with it is told when its turn comes.
      guard
        let path = try? database.choice(in: settings, own: feed.options.database).path
      else { continue }
      let place = ToolSettings.place(of: path)
      isShared = isShared || databases[place] != nil
      databases[place] = databases[place] ?? path
      guard prunes(feed, settings), let arguments = try? arguments(of: feed, in: settings, path),
        let command = try? ImportCommand.parse(arguments)
      else { continue }
      for entity in command.prunedEntities {
        let pruned = Pruned(place: place, entity: entity)
        // A feed may be named twice.
        guard pruning[pruned]?.contains(feed.name) != true else { continue }
        pruning[pruned, default: []].append(feed.name)
      }
    }
    var notes: [String] = []
    for (pruned, names) in pruning.sorted(by: { $0.key < $1.key }) where names.count > 1 {
      let list = names.dropLast().joined(separator: ", ") + " and \(names.last ?? "")"
      let (all, others) =
        names.count == 2 ? ("both", "the other brings") : ("all", "the others bring")
      let path = DatabaseOptions.shown(databases[pruned.place] ?? "")
      notes.append(
        "\(list) \(all) prune \(pruned.entity) in \(path): each deletes what only \(others)"
      )
    }
    if dryRun, isShared {
      notes.append("each feed is tried by itself, without what those before it would bring")
    }
    return notes
  }

  /// An entity of a database.
  private struct Pruned: Hashable, Comparable {
    let place: String
    let entity: String

    static func < (one: Pruned, other: Pruned) -> Bool {
      (one.place, one.entity) < (other.place, other.entity)
    }
  }
}

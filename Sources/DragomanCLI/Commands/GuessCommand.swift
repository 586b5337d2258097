import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman guess SAMPLE… [-o MAP]`: writes a map for feeds that there is none for yet.
struct GuessCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "guess",
    abstract: "Write a map for these files, with comments where unsure.",
    discussion: """
      All records are read; what they leave open stands in a comment. Try the map with check and \
      import, and correct it: it is a start, not the truth.

        dragoman guess orders.json -o orders.map.yaml
        dragoman check orders.map.yaml orders.json

      Exit codes: 0 done, 64 usage, 65 no feed or nothing to guess from, 66 no such file, \
      73 the output cannot be created, 74 I/O error or disk full.
      """
  )

  @Argument(help: "Samples, all of one format: files, folders, quoted globs, - for standard input.")
  var samples: [String]

  @Option(
    name: .shortAndLong,
    help: "The map to write; it must not exist. Without it: standard output."
  )
  var output: String?

  @Option(help: "The name of the first entity.")
  var entity: String?

  @Option(help: "Where the records stand, as `records:` says it: /data/items.")
  var records: String?

  @Option(name: .customLong("sample"), help: "Look at the first N records of each list only.")
  var sampleCount: Int?

  @OptionGroup
  var web: WebOptionGroup

  @Flag(help: "Replace the file at -o.")
  var overwrite = false

  func validate() throws {
    if let sampleCount, sampleCount < 1 { throw ValidationError("--sample wants 1 or more.") }
    if output?.isEmpty == true { throw ValidationError("-o wants the name of a file.") }
  }

  func run() throws {
    var request = ImportRequest(try InputExpansion.inputs(samples, besides: [output]))
    request.web = web.options()
    let inputs = try request.fetching(by: nil).inputs
    let file = output.flatMap { path in
      path == "-" ? nil : MapOutput(path, besides: MapOutput.kept(inputs), overwrites: overwrite)
    }
    try file?.check()
    let guess = try MapGuess(
      of: inputs,
      MapGuess.Options(entity: entity, records: records, sampleCount: sampleCount)
    )
    guard let output, let file else { return try OutputBuffer.print(guess.text) }
    try file.write(guess.text)
    let entities = guess.map.entities
    let count = entities.reduce(0) { $0 + $1.attributes.count }
    Messages.print(
      "\(output): \(Figures.count(entities.count, "entity", "entities")),"
        + " \(Figures.count(count, "attribute")). Try: dragoman check \(output)"
        + " \(samples.map { WebText.shown($0) }.joined(separator: " "))\n"
    )
  }
}

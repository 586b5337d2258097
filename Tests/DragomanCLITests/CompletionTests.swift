import Foundation
import Testing

@testable import DragomanCLI

/// Completion, manual pages and colour.
@Suite struct CompletionTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        Person:
          unique: id
          attributes: { id: { type: int64 }, lastName: n }
          relationships: { company: { entity: Company, kind: toOne, key: { name: c } } }
        Company: { unique: name, attributes: { name: name, city: city } }
      sources: { s: { format: json, entity: Person } }
      """,
      to: "p.map.yaml"
    )
    try folder.write(#"[{"id":1,"n":"Ada"}]"#, to: "a.json")
    _ = try folder.run("import", "p.map.yaml", "a.json", "-d", "p.db", "-q")
  }

  @Test(
    "Entities and key paths come from the database of the line, of DRAGOMAN_DB, or of dragoman.yaml"
  )
  func names() throws {
    let words = ["dragoman", "fetch", "Person", "-d", folder.url.path + "/p.db"]
    #expect(Suggestions(words).entities == ["Person", "Company"])
    #expect(Suggestions(words).paths(behind: "") == ["id", "lastName", "company."])
    #expect(
      Suggestions(words).paths(behind: "id,-la") == ["id,-id", "id,-lastName", "id,-company."]
    )
    #expect(Suggestions(words).paths(behind: "company.na") == ["company.name", "company.city"])
    #expect(Suggestions(words).paths(behind: "nowhere.") == [])
    let other = ["dragoman", "fetch", "Nobody", "--database=" + folder.url.path + "/p.db"]
    #expect(Suggestions(other).entities == ["Person", "Company"])
    #expect(Suggestions(other).paths(behind: "") == [])
    #expect(Suggestions(["dragoman", "fetch", "-d", "/none.db"]).entities == [])
  }

  @Test("The scripts of the shells ask the tool, which answers by environment and settings")
  func scripts() throws {
    for shell in ["bash", "zsh", "fish"] {
      let run = try folder.run("completion", shell)
      #expect(run.status == 0 && run.errors.isEmpty)
      #expect(run.output.contains("---completion"))
      #expect(run.output.hasSuffix("\n"))
      #expect(!run.output.contains(folder.url.path))
    }
    let wrong = try folder.run("completion", "bsh")
    #expect(wrong.status == 64)
    let asked = try folder.shell(
      "DRAGOMAN_DB=p.db $D ---completion fetch -- positional@0 1 0 dragoman fetch ''"
    )
    #expect(asked.output.split(separator: "\n") == ["Person", "Company"])
    try folder.write(
      "database: p.db\nfeeds: { nightly: { map: m, inputs: i } }\n",
      to: "dragoman.yaml"
    )
    let feeds = try folder.shell("$D ---completion run -- positional@0 1 0 dragoman run ''")
    #expect(feeds.output == "nightly\n")
    // The shell takes what begins as the word at the cursor does.
    for (typed, found) in [
      ("", ["Person", "Company"]), ("Per", ["Person", "Company"]),
      ("Person,", ["Person,Company"]), ("Company,Pe", ["Company,Person"]),
    ] {
      let entities = try folder.shell(
        "$D ---completion export -- --entity 5 \(typed.count) dragoman export m -d p.db --entity '\(typed)'"
      )
      let lines = entities.output.split(separator: "\n").map(String.init)
      #expect(lines == found, "\(entities)")
    }
    let columns = try folder.shell(
      "$D ---completion export -- --columns 6 0 dragoman export m -d p.db --entity=Company --columns ''"
    )
    #expect(columns.output == "name\ncity\n", "\(columns)")
    let sort = try folder.shell(
      "$D ---completion fetch -- --sort 4 0 dragoman fetch Person --sort ''"
    )
    #expect(sort.output.split(separator: "\n").contains("lastName"))
  }

  @Test("A shell that is given the script completes entities")
  func bash() throws {
    guard FileManager.default.fileExists(atPath: "/bin/bash") else { return }
    let run = try folder.shell(
      """
      export DRAGOMAN_DB=p.db PATH="$(dirname "$D"):$PATH"
      "$D" completion bash > c.bash
      bash -c '. ./c.bash
        COMP_WORDS=(dragoman fetch Pe) COMP_CWORD=2 COMP_LINE="dragoman fetch Pe" COMP_POINT=17
        $(complete -p dragoman | sed "s/.*-F \\([^ ]*\\) .*/\\1/") dragoman Pe fetch
        echo "${COMPREPLY[@]}"'
      """
    )
    #expect(run.output.contains("Person"))
  }

  @Test("What settings and databases call their things is completed, and never run by the shell")
  func hostile() throws {
    guard FileManager.default.fileExists(atPath: "/bin/bash") else { return }
    try folder.write(
      """
      database: p.db
      feeds:
        "$(touch one)": { map: m, inputs: i }
        '`touch two`': { map: m, inputs: i }
        "two words": { map: m, inputs: i }
        plain: { map: m, inputs: i }
      """,
      to: "dragoman.yaml"
    )
    for (typed, found) in [
      ("", "$(touch one)|`touch two`|two words|plain"), ("two", "two words"),
      ("\\$\\(t", "$(touch one)"), ("x", ""),
    ] {
      try folder.write(typed, to: "typed")
      let run = try folder.shell(
        """
        export PATH="$(dirname "$D"):$PATH"
        "$D" completion bash > c.bash
        bash -c '. ./c.bash
          cur="$(cat typed)"
          COMP_WORDS=(dragoman run "$cur") COMP_CWORD=2 COMP_LINE="dragoman run $cur" COMP_POINT=${#COMP_LINE}
          _dragoman dragoman "$cur" run
          printf "%s\n" "${COMPREPLY[@]}" | paste -sd "|"'
        """
      )
      #expect(run.output == found + "\n", "\(typed): \(run)")
    }
    #expect(try !folder.files.contains { ["one", "two"].contains($0) })
  }

  @Test("Behind help stand the names of commands, and of the commands of one that has some")
  func help() throws {
    let words = [
      "bash": "compgen -W 'import fetch ", "zsh": "_commands=('import:Import feeds into",
    ]
    for (shell, start) in words {
      let script = try folder.run("completion", shell).output
      #expect(script.contains("    help) ") && script.contains(start))
      #expect(script.contains("    rejects) ") && script.contains("retry"))
    }
    let fish = try folder.run("completion", "fish").output
    let test = "complete -c 'dragoman' -n '__dragoman_should_offer_completions_for_positional"
    #expect(fish.contains(test + " \"dragoman help\" -eq 1' -fa 'fetch' -d 'Print the objects of"))
    #expect(
      fish.contains(
        test + " \"dragoman help\" -eq 2; and __fish_seen_subcommand_from rejects' -fa 'retry'"
      )
    )
    guard FileManager.default.fileExists(atPath: "/bin/bash") else { return }
    for (line, found) in [
      ("help fe", "fetch"), ("help rejects ", "retry show"), ("help import ", ""),
    ] {
      let run = try folder.shell(
        """
        "$D" completion bash > c.bash
        bash -c '. ./c.bash
          COMP_LINE="dragoman \(line)" COMP_POINT=${#COMP_LINE}
          COMP_WORDS=($COMP_LINE) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) cur=${COMP_WORDS[-1]}
          case $COMP_LINE in *" ") COMP_WORDS+=("") COMP_CWORD=$((COMP_CWORD + 1)) cur="" ;; esac
          $(complete -p dragoman | sed "s/.*-F \\([^ ]*\\) .*/\\1/") dragoman "$cur" "${COMP_WORDS[COMP_CWORD-1]}"
          printf "%s\\n" "${COMPREPLY[@]}" | sort | grep -v ^-- | paste -sd " "'
        """
      )
      #expect(run.output.trimmingCharacters(in: .whitespacesAndNewlines) == found, "\(run)")
    }
  }

  @Test("The manual pages in man/ are those of this tool; Scripts/man.sh writes them")
  func manual() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let kept = root.appendingPathComponent("man")
    try FileManager.default.createDirectory(
      at: folder.url.appendingPathComponent("made"),
      withIntermediateDirectories: true
    )
    #expect(try folder.run("man", "made").status == 0)
    let made = folder.url.appendingPathComponent("made")
    let names = try FileManager.default.contentsOfDirectory(atPath: made.path).sorted()
    #expect(try FileManager.default.contentsOfDirectory(atPath: kept.path).sorted() == names)
    #expect(names.contains("dragoman-rejects-retry.1"))
    for name in names {
      let fresh = try String(contentsOf: made.appendingPathComponent(name), encoding: .utf8)
      #expect(try String(contentsOf: kept.appendingPathComponent(name), encoding: .utf8) == fresh)
    }
  }

  @Test("Errors and heads of tables are coloured on terminals that show it, and nowhere else")
  func colour() throws {
    let red = "\u{1B}[1;31merror[store.request]:\u{1B}[0m There is no entity"
    func errors(_ environment: [String: String]) throws -> String {
      try TestTerminal().run(
        ["fetch", "Persn", "-d", "p.db"],
        in: folder,
        environment: environment
      ).errors
    }
    #expect(try errors(["TERM": "xterm", "NO_COLOR": ""]).hasPrefix(red))
    for environment in [["TERM": "xterm", "NO_COLOR": "1"], ["TERM": "dumb", "NO_COLOR": ""]] {
      #expect(try errors(environment).hasPrefix("error[store.request]: There is no entity"))
    }
    #expect(
      try folder.run("fetch", "Persn", "-d", "p.db").errors.hasPrefix("error[store.request]:")
    )
    let table = try TestTerminal().run(
      ["fetch", "Person", "-d", "p.db"],
      in: folder,
      environment: ["TERM": "xterm", "NO_COLOR": ""],
      showsOutput: true
    )
    #expect(table.errors.hasPrefix("\u{1B}[1mid  lastName"))
    #expect(
      !table.errors.dropFirst(4).split(separator: "\n").dropFirst().joined().contains("\u{1B}")
    )
  }
}

import Foundation
import TestSupport

/// The built compiler plugin, asked in the way in which the compiler asks it: messages of JSON with their
/// length before them, over the plugin's standard input and output.
///
/// The messages are those of swift-syntax's SwiftCompilerPluginMessageHandling. Tests that link the
/// macro itself would make SwiftPM build the whole package a second time, for the host.
struct MacroPlugin {
  /// A piece of source, and where it is.
  struct Syntax: Encodable {
    struct Location: Encodable {
      var fileID = "Tests/Tests.swift"
      var fileName = "Tests.swift"
      var offset: Int
      var line = 1
      var column = 1
    }

    var kind: String
    var source: String
    var location: Location

    init(_ kind: String, _ source: some StringProtocol, at offset: Int = 0) {
      self.kind = kind
      self.source = String(source)
      location = Location(offset: offset)
    }
  }

  /// What is to be expanded.
  struct Request: Encodable {
    struct Macro: Encodable {
      var moduleName = "DragomanMacros"
      var typeName: String
      var name: String
    }

    var macro: Macro
    var macroRole: String
    var discriminator = "test"
    var attributeSyntax: Syntax
    var declSyntax: Syntax
    var extendedTypeSyntax: Syntax?
    var conformanceListSyntax: Syntax?
    var lexicalContext: [Syntax] = []
  }

  /// What has become of it.
  struct Answer: Decodable {
    struct Diagnostic: Decodable {
      struct Position: Decodable {
        var offset: Int
      }

      struct FixIt: Decodable {
        struct Change: Decodable {
          struct Range: Decodable {
            var startOffset: Int
            var endOffset: Int
          }

          var range: Range
          var newText: String
        }

        var message: String
        var changes: [Change]
      }

      var message: String
      var severity: String
      var position: Position
      var fixIts: [FixIt]
    }

    var expandedSource: String?
    var diagnostics: [Diagnostic]
  }

  struct NoAnswer: Error, CustomStringConvertible {
    var description: String
  }

  private enum Message: Encodable {
    case getCapability(capability: [String: Int])
    case expandAttachedMacro(Request)

    private enum Name: String, CodingKey {
      case getCapability
      case expandAttachedMacro
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Name.self)
      switch self {
      case .getCapability(let capability):
        try container.encode(["capability": capability], forKey: .getCapability)
      case .expandAttachedMacro(let request):
        try container.encode(request, forKey: .expandAttachedMacro)
      }
    }
  }

  private struct Reply: Decodable {
    var expandMacroResult: Answer?
  }

  private static let executable = BuiltTool.url("DragomanMacros-tool")

  /// Runs the plugin for one request.
  static func answer(_ request: Request) throws -> Answer {
    let process = Process()
    let input = Pipe()
    let output = Pipe()
    process.executableURL = executable
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(
      contentsOf: frame(.getCapability(capability: ["protocolVersion": 7]))
        + frame(.expandAttachedMacro(request))
    )
    try input.fileHandleForWriting.close()
    let frames = frames(try output.fileHandleForReading.readToEnd() ?? Data())
    process.waitUntilExit()
    guard let last = frames.last,
      let answer = try JSONDecoder().decode(Reply.self, from: last).expandMacroResult
    else { throw NoAnswer(description: "\(executable.path) has not answered") }
    return answer
  }

  private static func frame(_ message: Message) throws -> Data {
    let text = try JSONEncoder().encode(message)
    let length = withUnsafeBytes(of: UInt64(text.count).littleEndian) { Data($0) }
    return length + text
  }

  private static func frames(_ data: Data) -> [Data] {
    var frames: [Data] = []
    var rest = data[...]
    while rest.count > 8 {
      let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
      frames.append(Data(rest.dropFirst(8).prefix(length)))
      rest = rest.dropFirst(8 + length)
    }
    return frames
  }
}

import DragomanGraph
import Foundation

extension ImportMap {
  /// Reads and checks a map file; the name's ending tells JSON (`.json`) from YAML.
  ///
  ///     let map = try ImportMap(contentsOf: "Maps/people.map.yaml")
  ///
  /// Throws every fault of the file together, in the order of the file.
  public init(contentsOf path: String) throws(MapFaults) {
    let data: [UInt8]
    do {
      data = try MapBytes.read(path)
    } catch {
      let code = error.isDenied ? MapFault.Code.permission : .file
      throw MapFaults([MapFault(code, "The map cannot be read: \(error.reason).", file: path)])
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw MapFaults([MapFault(.encoding, "The map is not UTF-8 text.", file: path)])
    }
    try self.init(text, as: MapSyntax(file: path), file: path)
  }

  /// Reads and checks a map written in YAML; `file` is named in messages.
  public init(yaml: String, file: String? = nil) throws(MapFaults) {
    try self.init(yaml, as: .yaml, file: file)
  }

  /// Reads and checks a map written in JSON; `file` is named in messages.
  public init(json: String, file: String? = nil) throws(MapFaults) {
    try self.init(json, as: .json, file: file)
  }

  private init(_ text: String, as syntax: MapSyntax, file: String?) throws(MapFaults) {
    let root = try MapNode.parse(text, as: syntax, file: file)
    var reader = MapReader(file: file)
    let map = reader.map(root)
    var validator = MapValidator(map, positions: reader.positions)
    let faults = reader.faults + validator.validate(besides: reader.faults)
    guard faults.isEmpty else { throw MapFaults(faults) }
    self = map
  }

  /// Whether a file has the name of a map: `people.map.yaml`.
  package static func isNamed(_ name: String) -> Bool {
    let name = name.lowercased()
    return [".map.yaml", ".map.yml", ".map.json"].contains { name.hasSuffix($0) }
  }

  /// The path of the rejects file that the map names, which is relative to the map's folder.
  public var rejectsPath: String? {
    guard let name = importOptions.rejectsFile else { return nil }
    return file.map { FilePath.file(name, in: FilePath.folder(of: $0)) } ?? name
  }

  /// Everything that is wrong with the map; empty when it can be imported with.
  ///
  /// Maps read from files have passed this already; it is meant for maps built in code.
  public func validate() -> [MapFault] {
    var validator = MapValidator(self, positions: [:])
    return validator.validate(besides: [])
  }
}

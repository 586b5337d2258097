/// The keys of a map file, place by place: docs/maps.md's table as a value.
///
/// The decoder admits these keys and no others; a test holds the published JSON Schema to them.
enum MapGrammar {
  static let top = [
    "version", "name", "model", "defaults", "entities", "sources", "import", "export",
  ]
  static let policies = [
    "onMissing", "onNull", "onInvalid", "ignoreNullValueOverwrites", "ignoreOptionalNullValues",
  ]
  static let defaults = ["timeZone", "dates", "numbers", "strings", "onUnresolved"] + policies
  static let entity =
    [
      "table", "parent", "discriminator", "unique", "attributes", "relationships", "version",
      "deleteWhen", "overwriteExisting", "hooks",
    ] + policies
  static let discriminator = ["from", "values"]
  static let deleteWhen = ["from", "equals"]
  static let hooks = ["beforeRecord", "afterRecord", "afterImport", "afterExport"]
  static let attribute =
    [
      "from", "type", "required", "default", "index", "column", "dates", "timeZone", "numbers",
      "values", "unknown", "trueValues", "falseValues", "scale", "coerce", "strings", "compute",
      "export", "sensitive", "renamedFrom", "min", "max", "length", "pattern",
    ] + policies
  static let length = ["min", "max"]
  static let numbers = ["decimal", "group", "locale", "style"]
  static let strings = ["trim", "emptyAsNull", "nulls"]
  static let relationship =
    [
      "entity", "kind", "from", "key", "inverse", "ordered", "repeats", "assign", "onDelete",
      "onUnlink", "onUnresolved", "export",
    ] + policies
  static let paths = ["json", "xml", "csv"]
  static let keyPart = ["attribute", "value", "from", "split"] + paths
  static let source = [
    "format", "entity", "records", "files", "namespaces", "encoding", "separator",
  ]
  static let importOptions = ["batchSize", "commit", "maxRecordSize", "rejects"]
  static let rejects = ["file", "max"]
  static let exportOptions = [
    "entity", "names", "shape", "nulls", "sort", "include", "json", "xml",
  ]
  static let exportJSON = ["at", "pretty"]
  static let exportXML = ["at"]
}

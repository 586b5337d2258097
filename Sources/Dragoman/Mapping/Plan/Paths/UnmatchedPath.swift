/// A path of the map that no record of a feed had: a wrong one, or one that is not needed here.
public struct UnmatchedPath: Sendable, Hashable, Codable {
  /// The entity whose records were read.
  public var entity: String
  /// The attribute or relationship; `discriminator` or `deleteWhen`.
  public var property: String
  /// The path as the map has it.
  public var path: String
  /// The format that was read.
  public var format: ForeignFormat
  /// How many records were looked at.
  public var recordCount: Int
  /// The path that may be meant: with the nearest name that the first records have at that place.
  public var suggestion: String?
  /// Some of the names that the first records have there.
  public var names: [String]
  /// XML: the namespace in which the first records have the name, where the map has no prefix for it; empty
  /// where they have it in none.
  public var namespace: String?
  /// Whether the map says that the value may be missing: `onMissing` of the attribute itself.
  public var mayBeMissing: Bool
  /// Whether it is the discriminator's: no policy says what holds for records that lack it.
  public var isDiscriminator = false
  /// Whether records of other formats were read, too, which is not said of them.
  public var isOfOneFormatOfSeveral = false

  /// The attribute or relationship, and the format where there are several: `Person.name (csv)`.
  public var subject: String {
    "\(entity).\(property)" + (isOfOneFormatOfSeveral ? " (\(format.rawValue))" : "")
  }

  /// One sentence without its full stop: `Person.name: the path nmae matched 0 of 300 records`.
  public var message: String {
    let records = recordCount == 1 ? "1 record" : "\(recordCount) records"
    return "\(subject): the path \(path) matched 0 of \(records)"
  }

  /// Whether the records show what may be wrong with the path.
  public var hasRemedy: Bool { suggestion != nil || namespace != nil }

  /// What to do about it.
  public var help: String {
    if let suggestion { return "did you mean \(suggestion)?" }
    if namespace == "" {
      return "it is there in no namespace: declare a prefix in place of the default one"
    }
    if let namespace {
      return "it is there in the namespace \(namespace): declare a prefix for that under"
        + " `namespaces:` of the source, and write it in the path"
    }
    if names.isEmpty, isDiscriminator {
      return "check the path, or leave the discriminator out if all records are of \(entity)"
    }
    if names.isEmpty { return "check the path, or say onMissing: keep if it may be missing" }
    return "there are \(names.joined(separator: ", "))"
  }
}

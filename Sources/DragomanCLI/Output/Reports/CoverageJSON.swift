import Dragoman
import DragomanGraph

/// Coverage in the document of `check --json`; values are spelled as in CSV of `fetch`.
struct CoverageJSON: Encodable {
  private let entities: [EntityJSON]
  private let unread: [FeedCoverage.UnreadPlace]

  init(_ coverage: FeedCoverage) {
    entities = coverage.entities.map(EntityJSON.init)
    unread = coverage.unread
  }

  private struct EntityJSON: Encodable {
    let name: String
    let objects: Int
    let duplicates: Int
    let duplicateKeys: [String]
    let attributes: [AttributeJSON]

    init(_ entity: FeedCoverage.Entity) {
      name = entity.name
      objects = entity.objectCount
      duplicates = entity.duplicateCount
      duplicateKeys = entity.duplicateKeys
      attributes = entity.attributes.map(AttributeJSON.init)
    }
  }

  private struct AttributeJSON: Encodable {
    let name: String
    let type: String
    let values: Int
    let null: Int
    let absent: Int
    let invalid: Int
    let distinct: Int
    let isDistinctExact: Bool
    let smallest: String?
    let largest: String?
    let suggestion: String?

    init(_ coverage: FeedCoverage.Attribute) {
      name = coverage.attribute.name
      type = coverage.attribute.type.rawValue
      values = coverage.valueCount
      null = coverage.nullCount
      absent = coverage.absentCount
      invalid = coverage.invalidCount
      distinct = coverage.distinctCount
      isDistinctExact = coverage.isDistinctCountExact
      smallest = coverage.smallest.flatMap { ShownValue.text($0, coverage.attribute) }
      largest = coverage.largest.flatMap { ShownValue.text($0, coverage.attribute) }
      suggestion = coverage.suggestion
    }
  }
}

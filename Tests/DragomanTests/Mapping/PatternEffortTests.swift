import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

@Suite("Patterns that take long") struct PatternEffortTests {
  private func rules(_ pattern: String, _ effort: PatternEffort) throws -> ValueRules {
    let attribute = Attribute(name: "a", type: .string).with { $0.rules.pattern = pattern }
    return try #require(try ValueRules(attribute, effort))
  }

  private func isRight(_ text: String, _ rules: ValueRules) -> Bool {
    Array(text.utf8).withUnsafeBytes { rules.check(.text($0)) == nil }
  }

  @Test("What is meant takes its steps, however long or many the values are")
  func usual() throws {
    let effort = PatternEffort(atMost: 0)
    let words = try rules("([a-z]+ )*[a-z]*", effort)
    let letters = try rules("[a-z]{1,5}", effort)
    for _ in 0..<20_000 { #expect(isRight("abc", letters) && !isRight("abcdef", letters)) }
    #expect(isRight(String(repeating: "some words ", count: 50_000), words))
    #expect(effort.culprit == nil)
  }

  @Test("Too much of it in all is told, and nothing is found right any more")
  func beyond() throws {
    let effort = PatternEffort(atMost: 1500)
    let slow = try rules("a*a*a*a*a*a*a*a*b", effort)
    let quick = try rules("[a-z]+", effort)
    let value = String(repeating: "a", count: 2000)
    #expect(!isRight(value, slow))
    #expect(effort.culprit == nil && isRight("abc", quick))
    #expect(!isRight(value, slow))
    #expect(effort.culprit == "a")
    #expect(!isRight("abc", quick))
  }

  @Test("Records of a program end as a feed does: nothing is taken, or cleared, unlooked at")
  @MainActor func records() async throws {
    let code = Attribute(name: "code").with { $0.rules.pattern = "a*a*a*a*a*a*a*a*a*a*a*a*b" }
    let entity = Entity(name: "P", attributes: [Attribute(name: "id"), code], uniqueKeys: [["id"]])
    let stack = try Stack(Model(entities: [entity]), at: .inMemory)
    let slow = String(repeating: "a", count: 2000)
    var records: [ForeignValue] = (0..<20).map { ["id": .string("\($0)"), "code": .string(slow)] }
    records.append(["id": "x", "code": "aab"])
    let error = await #expect(throws: ReadError.self) {
      _ = try await stack.import(records, into: "P")
    }
    #expect(error?.code == .limit)
    #expect(try stack.main.count(FetchRequest("P")) == 0)
  }
}

import Testing

@testable import Dragoman

@Suite("Patterns that take long") struct PatternTimeTests {
  @Test("Only what takes long for a value counts, and too much of it ends the import")
  func bound() {
    let time = PatternTime(atMost: .seconds(1))
    for _ in 0..<100_000 { time.note(.milliseconds(100), of: "a") }
    #expect(time.culprit == nil)
    for _ in 0..<9 { time.note(.milliseconds(101), of: "b") }
    #expect(time.culprit == nil)
    time.note(.milliseconds(101), of: "c")
    #expect(time.culprit == "c")
    time.note(.seconds(5), of: "d")
    #expect(time.culprit == "c")
  }
}

import Testing

@testable import DragomanGraph

@Suite("Words of messages") struct MessageWordsTests {
  @Test("A number has the singular for one, and the plural for any other")
  func counts() {
    #expect([0, 1, 2].map { MessageWords.count($0, "row") } == ["0 rows", "1 row", "2 rows"])
    #expect(MessageWords.count(1, "row is", "rows are") == "1 row is")
    #expect(MessageWords.count(3, "row is", "rows are") == "3 rows are")
  }

  @Test("The article goes by how a name is spoken")
  func articles() {
    let words = [
      "Person", "Order", "A", "U", "User", "Unit", "Update", "European", "uuid", "int16",
    ]
    #expect(
      words.map(MessageWords.withArticle) == [
        "a Person", "an Order", "an A", "a U", "a User", "a Unit", "an Update", "a European",
        "a uuid",
        "an int16",
      ]
    )
  }
}

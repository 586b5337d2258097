import DragomanGraph
import Testing

@Suite("Nearest name")
struct NearestTests {
  @Test(
    "A typo finds the name that was meant, and only that",
    arguments: [
      ("salery", "salary"), ("SALARY", "salary"), ("lsatName", "lastName"), ("lastNam", "lastName"),
      ("last_name", "lastName"), ("it", "id"), ("zebra", nil), ("", nil), ("x", nil),
    ] as [(String, String?)]
  )
  func finds(name: String, expected: String?) {
    #expect(nearest(to: name, in: ["id", "firstName", "lastName", "salary"]) == expected)
  }

  @Test("A name of any length is compared") func long() {
    #expect(nearest(to: String(repeating: "a", count: 100_000), in: ["id", "firstName"]) == nil)
  }
}

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

  @Test(
    "Of a name with an ending the distance counts, and a letter alone is near to no other",
    arguments: [
      ("Europe/Oslow", ["Europe/Moscow", "Europe/Oslo"], "Europe/Oslo"),
      ("names", ["game", "name"], "name"), ("sku", ["sky", "sku_number"], "sky"),
      ("sku", ["id", "sku_number"], "sku_number"), ("v", ["1", "w"], nil), ("V", ["w", "v"], "v"),
    ] as [(String, [String], String?)]
  )
  func endings(name: String, candidates: [String], expected: String?) {
    #expect(nearest(to: name, in: candidates) == expected)
  }

  @Test("A name of any length is compared") func long() {
    #expect(nearest(to: String(repeating: "a", count: 100_000), in: ["id", "firstName"]) == nil)
  }
}

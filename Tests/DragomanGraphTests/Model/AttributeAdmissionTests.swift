import Testing

@testable import DragomanGraph

@Suite struct AttributeAdmissionTests {
  @Test(
    "NaN is no value of a real attribute, and not null either",
    arguments: [AttributeType.double, .float]
  )
  func notANumber(type: AttributeType) {
    let admitted = Attribute(name: "a", type: type).admitted(.real(.nan))
    #expect(admitted.map { "\($0)" } == Optional<String>.none)
  }
}

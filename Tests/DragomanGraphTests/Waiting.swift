/// Waits until something is so, for a quarter of an hour at most: machines that run tests are busy.
///
/// - Parameters:
///   - isolation: Where the question is asked.
///   - isSo: The question.
/// - Throws: What asking throws.
func wait(
  isolation: isolated (any Actor)? = #isolation,
  until isSo: () async throws -> Bool
) async throws {
  for _ in 0..<90_000 {
    if try await isSo() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
}

extension String {
  /// The name as SQL takes it: in double quotes, double quotes inside doubled.
  ///
  /// GRDB's `quotedDatabaseIdentifier` does not double them, so it is not for names of users.
  var quotedName: String { "\"\(replacing("\"", with: "\"\""))\"" }
}

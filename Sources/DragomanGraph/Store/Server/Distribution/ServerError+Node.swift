extension ServerError {
  /// The node that the coordinator of Citus cannot reach, `host:port`; nil: something else went wrong.
  ///
  /// Citus tells it in words, with the user that it connects as.
  var lostNode: String? {
    let beginnings = [
      "connection to the remote node ", "failure on connection marked as essential: ",
    ]
    for beginning in beginnings where message.hasPrefix(beginning) {
      let place = message.dropFirst(beginning.count).prefix { !$0.isWhitespace }
      return place.split(separator: "@").last.map { String($0) }
    }
    return nil
  }
}

/// Numbers of objects that were not known when a page was sent; its script asks for them.
enum CountsPage {
  /// - Returns: The numbers of the entities that the query names, `of`; only as JSON.
  static func answer(_ request: ConsoleRequest, _ sources: PageSources) -> JSONValue {
    let counts = sources.counts.counts(of: request.values(of: "of"))
    return [
      "v": 1,
      "counts": .object(
        counts.sorted { $0.key < $1.key }.map { name, count in
          (
            name,
            [
              "count": JSONValue(count.number), "isCountComplete": .bool(count.isComplete),
              "text": .string(count.text), "phrase": .string(count.phrase),
            ]
          )
        }
      ),
    ]
  }
}

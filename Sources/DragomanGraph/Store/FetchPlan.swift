/// A request checked against a model: the SQL, its values, and the attributes it reads.
struct FetchPlan {
  /// The entity.
  let entity: Entity
  /// The attributes, in the order of the columns behind `_pk`.
  let attributes: [Attribute]
  /// `SELECT "_pk", … FROM … WHERE … ORDER BY … LIMIT ? OFFSET ?`.
  let rowsSQL: String
  /// `SELECT count(*) FROM …` under the same condition and limits.
  let countSQL: String
  /// The values of the `?`, the same for both statements.
  let arguments: [StoredValue]
}

extension FetchPlan {
  /// Checks and compiles; throws `StoreError.Code.badRequest`.
  init(_ request: FetchRequest, in model: Model) throws(StoreError) {
    let entity = try model.requireEntity(request.entity)
    let attributes = try Self.attributes(request, of: entity)
    var compiler = FilterCompiler(entity)
    var source = " FROM \(Schema.quoted(entity.table))"
    if let filter = request.filter { source += " WHERE \(try compiler.condition(filter))" }
    var arguments = compiler.arguments
    var slice = ""
    guard request.limit ?? 0 >= 0, request.offset >= 0 else {
      throw StoreError(.badRequest, "The limit and the offset of a fetch cannot be negative.")
    }
    if request.limit != nil || request.offset > 0 {
      slice = " LIMIT ? OFFSET ?"
      arguments += [.integer(Int64(request.limit ?? -1)), .integer(Int64(request.offset))]
    }
    let columns = ["\"_pk\""] + attributes.map { Schema.quoted($0.column) }
    let order = try Self.order(request.sortKeys, in: entity)
    self.init(
      entity: entity,
      attributes: attributes,
      rowsSQL: "SELECT \(columns.joined(separator: ", "))\(source) ORDER BY \(order)\(slice)",
      countSQL: slice.isEmpty
        ? "SELECT count(*)\(source)" : "SELECT count(*) FROM (SELECT 1\(source)\(slice))",
      arguments: arguments
    )
  }

  private static func attributes(
    _ request: FetchRequest,
    of entity: Entity
  ) throws(StoreError) -> [Attribute] {
    guard let names = request.columns else { return entity.attributes }
    var attributes: [Attribute] = []
    for name in names {
      let attribute = try entity.requireAttribute(name)
      guard !attributes.contains(where: { $0.column == attribute.column }) else {
        throw StoreError(.badRequest, "The column \"\(name)\" is named twice.")
      }
      attributes.append(attribute)
    }
    return attributes
  }

  /// Ties are broken by `_pk`, so that the same data always comes in the same order.
  private static func order(_ keys: [SortKey], in entity: Entity) throws(StoreError) -> String {
    var terms: [String] = []
    for key in keys {
      let attribute = try entity.requireAttribute(key.name)
      let collation =
        attribute.type == .decimal ? " COLLATE \(FetchFunctions.decimalCollation)" : ""
      terms.append(
        "\(Schema.quoted(attribute.column))\(collation)\(key.isAscending ? "" : " DESC")"
      )
    }
    return (terms + ["\"_pk\""]).joined(separator: ", ")
  }
}

import DragomanGraph

/// Reading a property binds tighter than handing it to an initializer.
precedencegroup UnboxingPrecedence {
  associativity: left
  higherThan: ApplicationPrecedence
}

/// `<^>` works from left to right.
precedencegroup ApplicationPrecedence {
  associativity: left
  higherThan: AssignmentPrecedence
  lowerThan: NilCoalescingPrecedence
}

infix operator <| : UnboxingPrecedence
infix operator <|? : UnboxingPrecedence
infix operator <|| : UnboxingPrecedence
infix operator <^> : ApplicationPrecedence

/// Unboxes the attribute of that name.
///
///     init(from row: borrowing UnboxingRow) throws {
///       try self.init(name: row <| "name", age: row <|? "age", phones: row <|| "phones")
///     }
///
/// - Throws: `ValueError` for null, a wrong type, a value that does not fit, or no such field.
public func <| <Value: AttributeValue>(
  row: borrowing UnboxingRow,
  name: String
) throws -> Value {
  try row.value(named: name)
}

/// Unboxes the nested value, or the reference, of a to-one of that name.
///
/// - Throws: `ValueError` where there is no target; what the nested value throws.
public func <| <Value: RelationshipTarget>(
  row: borrowing UnboxingRow,
  name: String
) throws -> Value {
  try row.value(named: name)
}

/// Unboxes the attribute of that name; null is nil.
///
/// - Throws: `ValueError` for a wrong type, a value that does not fit, or no such field.
public func <|? <Value: AttributeValue>(
  row: borrowing UnboxingRow,
  name: String
) throws -> Value? {
  try row.value(named: name)
}

/// Unboxes the nested value, or the reference, of a to-one of that name; no target is nil.
///
/// - Throws: What the nested value throws.
public func <|? <Value: RelationshipTarget>(
  row: borrowing UnboxingRow,
  name: String
) throws -> Value? {
  try row.value(named: name)
}

/// Unboxes the nested values, or the references, of a to-many of that name.
///
/// - Throws: What the nested values throw.
public func <|| <Value: RelationshipTarget>(
  row: borrowing UnboxingRow,
  name: String
) throws -> [Value] {
  try row.value(named: name)
}

/// Hands a value to a curried function: the rest of it, or its result.
public func <^> <Value, Result>(
  function: (Value) -> Result,
  value: Value
) -> Result {
  function(value)
}

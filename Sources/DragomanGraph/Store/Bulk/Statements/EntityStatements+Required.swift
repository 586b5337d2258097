/// What a row of a shape does not give, and its object must have.
extension EntityStatements {
  /// An attribute that objects of some more general entities do not have, and its default.
  struct Gained {
    let column: String
    let value: StoredValue
    /// The test of these objects.
    let test: String

    /// What sets it, where an object becomes of the entity, given its default in SQL.
    func assignment(_ value: String) -> String {
      "\(column) = CASE WHEN \(test) THEN \(value) ELSE \(column) END"
    }
  }

  /// The attributes that a row does not give and an object gets when it becomes of the entity.
  func gained(_ present: [Int]) -> [Gained] {
    let given = columns(of: present)
    return entity.attributes.compactMap { attribute in
      guard let value = attribute.defaultValue, !given.contains(attribute.column) else {
        return nil
      }
      let others = ancestors.filter { !$0.has(attribute) }
      guard !others.isEmpty else { return nil }
      let test = Self.isOne(of: others.map(\.name))
      return Gained(column: Schema.quoted(attribute.column), value: value, test: test)
    }
  }

  /// A required attribute that the shape lacks, so that it can make no object; nil: none.
  func missing(from present: [Int]) -> String? { lacking(present).first?.name }

  private func lacking(_ present: [Int]) -> [Attribute] {
    let given = columns(of: present)
    return entity.attributes.filter {
      $0.isRequired && $0.defaultValue == nil && !given.contains($0.column)
    }
  }

  /// Finds the object that a row of a shape that lacks something required is good for, or leaves alone.
  func completed(_ keys: [Int], by present: [Int]) -> Sentence {
    var sentence = probe(keys, for: present)
    if mode == .upsert { sentence.sql += hasLacking(present) }
    return sentence
  }

  /// The test that an object has the required attributes that the shape lacks: those of some more general entities
  /// do not.
  func hasLacking(_ present: [Int]) -> String {
    let lacking = lacking(present)
    let others = ancestors.filter { ancestor in !lacking.allSatisfy(ancestor.has) }
    return others.isEmpty ? "" : " AND NOT \(Self.isOne(of: others.map(\.name)))"
  }
}

/// Which stubs a row makes whole.
extension EntityStatements {
  func completes(hasValues: Bool) -> Bool {
    completesStubs == .always || (completesStubs == .withValues && hasValues)
  }

  /// The test that an object is a stub which a row makes whole.
  var isCompleted: String {
    demanding.isEmpty
      ? "_stub IS NOT NULL" : "(_stub IS NOT NULL AND NOT \(Self.isOne(of: demanding)))"
  }

  /// The test that an object is no stub, where a row would make it whole.
  func isWhole(hasValues: Bool) -> String {
    guard completes(hasValues: hasValues) else { return "" }
    return demanding.isEmpty ? " AND _stub IS NULL" : " AND NOT \(isCompleted)"
  }
}

extension EntityLayout {
  /// Whether objects of it need something that those of a more general entity do not have.
  package func requiresMore(than general: EntityLayout) -> Bool {
    attributes.contains { $0.isRequired && $0.defaultValue == nil && !general.has($0) }
  }

  /// Whether the entity has an attribute of another one of its family.
  fileprivate func has(_ attribute: Attribute) -> Bool {
    attributes.contains { hasSameBytes($0.column, attribute.column) }
  }
}

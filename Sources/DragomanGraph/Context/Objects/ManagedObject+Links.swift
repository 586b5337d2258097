extension ManagedObject {
  /// The object that a to-one leads to; nil where there is none, or it was deleted.
  ///
  /// Setting it keeps the inverse in step on both sides. Errors are recorded, as with attributes;
  /// `target(of:)` and `setTarget(_:of:)` throw them at once.
  public subscript(one name: String) -> ManagedObject? {
    get {
      do {
        return try target(of: name)
      } catch {
        context.record(error)
        return nil
      }
    }
    set {
      context.attempt(name, of: self) { try setTarget(newValue, of: name) }
    }
  }

  /// The objects that a to-many leads to: in order where it is ordered, else in the order of their
  /// ids.
  ///
  /// Setting it links and unlinks what differs and keeps the inverse in step. Errors are recorded;
  /// `targets(of:)` and `setTargets(_:of:)` throw them at once.
  public subscript(many name: String) -> [ManagedObject] {
    get {
      do {
        return try targets(of: name)
      } catch {
        context.record(error)
        return []
      }
    }
    set {
      context.attempt(name, of: self) { try setTargets(newValue, of: name) }
    }
  }

  /// The object that a to-one leads to.
  ///
  /// - Throws: `ContextError`: `.unknownProperty`, `.type` for a to-many, `.deleted`, `.missing`;
  ///   `StoreError`.
  public func target(of name: String) throws -> ManagedObject? {
    let link = try context.links.link(name, of: self, isToOne: true)
    return try context.links.targets(of: link, self).first
  }

  /// Sets a to-one.
  ///
  /// - Throws: as `target(of:)`; `.type` for an object of another entity, `.foreignContext` for one
  ///   of another context.
  public func setTarget(_ target: ManagedObject?, of name: String) throws {
    let link = try context.links.link(name, of: self, isToOne: true)
    try context.links.assign(target.map { [$0] } ?? [], to: link, self)
  }

  /// The objects that a to-many leads to.
  ///
  /// Runs one `SELECT` for the links the first time; the objects are faults that are read together.
  /// - Throws: `ContextError`: `.unknownProperty`, `.type` for a to-one, `.deleted`, `.missing`;
  ///   `StoreError`.
  public func targets(of name: String) throws -> [ManagedObject] {
    let link = try context.links.link(name, of: self, isToOne: false)
    return try context.links.targets(of: link, self)
  }

  /// Sets all objects of a to-many.
  ///
  /// - Throws: as `targets(of:)`; `.type` for an object of another entity, `.foreignContext` for
  ///   one of another context.
  public func setTargets(_ targets: [ManagedObject], of name: String) throws {
    let link = try context.links.link(name, of: self, isToOne: false)
    try context.links.assign(targets, to: link, self)
  }

  /// Links an object to a to-many: at the end, where it is ordered.
  ///
  /// Nothing else is read, so adding costs the same however many there are.
  /// - Throws: as `setTargets(_:of:)`.
  public func add(_ target: ManagedObject, to name: String) throws {
    let link = try context.links.link(name, of: self, isToOne: false)
    try context.links.connect(link, self, target)
  }

  /// Unlinks an object from a to-many; one that it does not lead to is left alone.
  ///
  /// - Throws: as `targets(of:)`; `.type` for an object of another entity, `.foreignContext` for one
  ///   of another context.
  public func remove(_ target: ManagedObject, from name: String) throws {
    let link = try context.links.link(name, of: self, isToOne: false)
    try context.checkOwn(
      target,
      "\(layout.name).\(link.name) does not lead to an object of another context."
    )
    try context.links.checkEntity(of: target, for: link, of: self)
    try context.links.disconnect(link, self, target)
  }

  /// Links an object to an ordered to-many, at a place.
  ///
  /// - Parameters:
  ///   - target: The object.
  ///   - name: The relationship.
  ///   - index: Its place, 0 up to the number of objects; beyond, it is the end.
  /// - Throws: as `setTargets(_:of:)`.
  public func insert(_ target: ManagedObject, into name: String, at index: Int) throws {
    var targets = try self.targets(of: name)
    targets.insert(target, at: min(max(0, index), targets.count))
    try setTargets(targets, of: name)
  }

  /// How many objects a to-many leads to.
  public func count(of name: String) throws -> Int {
    let link = try context.links.link(name, of: self, isToOne: false)
    let table = context.layout.entities[link.destination].tableIndex
    return try context.links.targetKeys(of: link, self).count { key in
      !context.isDeleted(RowKey(table: table, key: key))
    }
  }
}

import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Entity`: the conformance of a struct to `EntityValue`, from its stored properties.
///
/// The way of a declaration: `EntityReader` reads the struct and notes everything that cannot work,
/// `EntityExpansion` writes the members and the extension.
enum EntityMacro: MemberMacro, ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    var faults = EntityFaults()
    let entity = EntityReader.read(
      declaration,
      marker: node,
      in: context.lexicalContext,
      &faults
    )
    // The faults are told once, by the extension; the compiler refuses extensions of local types.
    guard let entity, faults.diagnostics.isEmpty,
      context.lexicalContext.allSatisfy({ $0.isProtocol((any DeclGroupSyntax).self) })
    else { return [] }
    return EntityExpansion(entity: entity).members
  }

  static func expansion(
    of node: AttributeSyntax,
    attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    var faults = EntityFaults()
    let entity = EntityReader.read(
      declaration,
      marker: node,
      in: context.lexicalContext,
      &faults
    )
    for diagnostic in faults.diagnostics { context.diagnose(diagnostic) }
    guard let entity, faults.diagnostics.isEmpty else { return [] }
    return [
      try EntityExpansion(entity: entity).conformance(
        of: type.trimmedDescription,
        to: protocols.map { $0.trimmedDescription }
      )
    ]
  }
}

/// `@Unique`, `@Attribute`, `@Relationship` and `@Transient`: they add nothing, `@Entity` reads them.
enum PropertyMarkerMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    let name = MarkerArguments.name(of: node)
    if !isInEntity(context.lexicalContext) {
      var faults = EntityFaults()
      faults.add(
        .marker,
        at: node,
        "@\(name) says something about a stored property of an @Entity struct; here it says nothing",
        fixIts: [
          FixIt(
            "remove @\(name)",
            .remove(
              node,
              of: declaration.asProtocol((any WithAttributesSyntax).self)?.attributes
            )
          )
        ]
      )
      for diagnostic in faults.diagnostics { context.diagnose(diagnostic) }
    }
    return []
  }

  private static func isInEntity(_ context: [Syntax]) -> Bool {
    // Other kinds of types get one fault from @Entity, not one a property.
    guard let group = context.first?.asProtocol((any DeclGroupSyntax).self) else { return false }
    return !MarkerArguments.all(in: group.attributes, named: ["Entity"]).isEmpty
  }
}

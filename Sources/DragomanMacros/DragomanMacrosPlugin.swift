import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// What the compiler asks when it meets one of the macros of the module DragomanEntities.
@main struct DragomanMacrosPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [EntityMacro.self, PropertyMarkerMacro.self]
}

import SwiftSyntax

/// What the spelling of a type tells.
///
/// A macro sees no types, only their spelling. Everything that the compiler can decide is left to it:
/// a plain name may be a scalar, an enum or another entity, and the generated code asks the type.
indirect enum TypeForm {
  /// `T?` or `Optional<T>`.
  case optional(TypeSyntax)
  /// `[T]` or `Array<T>`.
  case array(TypeSyntax)
  /// `Set<T>`.
  case set(TypeSyntax)
  /// `Ref<T>`.
  case reference(TypeSyntax)
  /// Any other name, `Date` or `Company` or `Foundation.Date`; `JSON<T>` too.
  case named(TypeSyntax)
  /// A type that no attribute can have, and what it is called.
  case unsupported(String)

  init(_ type: TypeSyntax) {
    switch type.as(TypeSyntaxEnum.self) {
    case .optionalType(let optional): self = .optional(optional.wrappedType)
    case .arrayType(let array): self = .array(array.element)
    case .attributedType(let attributed): self = TypeForm(attributed.baseType)
    case .tupleType(let tuple):
      if tuple.elements.count == 1, let only = tuple.elements.first, only.firstName == nil {
        self = TypeForm(only.type)
      } else {
        self = .unsupported("a tuple")
      }
    case .identifierType(let named): self = TypeForm(named)
    case .memberType(let member): self = TypeForm(member)
    case .dictionaryType: self = .unsupported("a dictionary")
    case .functionType: self = .unsupported("a function")
    case .implicitlyUnwrappedOptionalType: self = .unsupported("an implicitly unwrapped optional")
    case .someOrAnyType(let type) where type.someOrAnySpecifier.tokenKind == .keyword(.any):
      self = .unsupported("an existential")
    case .someOrAnyType: self = .unsupported("an opaque type")
    case .compositionType: self = .unsupported("an existential")
    case .metatypeType: self = .unsupported("a metatype")
    case .inlineArrayType: self = .unsupported("an inline array")
    default: self = .unsupported("such a type")
    }
  }

  private init(_ named: IdentifierTypeSyntax) {
    self = TypeForm(
      named.name.text,
      TypeSyntax(named),
      arguments: named.genericArgumentClause?.arguments
    )
  }

  private init(_ member: MemberTypeSyntax) {
    // `Swift.Array<T>` is an array; `Outer.Array<T>` is not ours to judge.
    let isOfLibrary =
      member.baseType.as(IdentifierTypeSyntax.self).map {
        ["Swift", "DragomanGraph", "DragomanEntities"].contains($0.name.text)
      } ?? false
    self = TypeForm(
      isOfLibrary ? member.name.text : "",
      TypeSyntax(member),
      arguments: member.genericArgumentClause?.arguments
    )
  }

  private init(_ name: String, _ type: TypeSyntax, arguments: GenericArgumentListSyntax?) {
    let first = arguments?.first?.argument.as(TypeSyntax.self)
    switch (name, first) {
    case ("Optional", let wrapped?): self = .optional(wrapped)
    case ("Array", let element?): self = .array(element)
    case ("Set", let element?): self = .set(element)
    case ("Ref", let target?): self = .reference(target)
    case ("Dictionary", _): self = .unsupported("a dictionary")
    case ("Any", _), ("AnyObject", _), ("AnyHashable", _): self = .unsupported("\"\(name)\"")
    case ("Void", _): self = .unsupported("a tuple")
    default: self = .named(type)
    }
  }

  /// The first part that no attribute can have, however deep it stands.
  var unsupported: String? {
    switch self {
    case .unsupported(let reason): reason
    case .optional(let inner), .array(let inner), .set(let inner), .reference(let inner):
      TypeForm(inner).unsupported
    case .named: nil
    }
  }

  /// The wrapped type of an optional.
  var wrapped: TypeSyntax? { if case .optional(let wrapped) = self { wrapped } else { nil } }

  /// The wrapped type of an optional, else the type itself.
  func unwrapped() -> TypeForm { wrapped.map { TypeForm($0) } ?? self }
}

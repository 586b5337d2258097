extension MapKind where Value == Contract {
  /// One word for all that may change, or a mapping; nothing is the word `report`.
  static var contract: MapKind {
    let word = MapKind<Contract.KeyRule>.word()
    return MapKind(
      shape: .either([.nothing, word.shape, .section(MapGrammar.contract.entry)]),
      read: { reader, found in
        if found.node.isNull { return Contract() }
        guard case .mapping = found.node.content else {
          return word.read(&reader, found).map { Contract($0) }
        }
        var contract = Contract()
        _ = reader.fill(&contract, from: found, by: MapGrammar.contract)
        return contract
      },
      write: { contract, writer in
        contract.word.map { word.write($0, writer) }
          ?? .mapping(MapGrammar.contract.members(of: contract, writer))
      }
    )
  }
}

extension MapKind where Value == AttributeContract {
  /// One word for all that may change, or a mapping; nothing is the word `report`.
  static var attributeContract: MapKind {
    let word = MapKind<Contract.Rule>.word()
    return MapKind(
      shape: .either([.nothing, word.shape, .section(MapGrammar.attributeContract.entry)]),
      read: { reader, found in
        if found.node.isNull {
          return AttributeContract(changedTypes: .report, vanishedKeys: .report)
        }
        guard case .mapping = found.node.content else {
          return word.read(&reader, found).map {
            AttributeContract(changedTypes: $0, vanishedKeys: $0)
          }
        }
        var contract = AttributeContract()
        _ = reader.fill(&contract, from: found, by: MapGrammar.attributeContract)
        return contract
      },
      write: { contract, writer in
        if let rule = contract.changedTypes, rule == contract.vanishedKeys {
          return word.write(rule, writer)
        }
        return .mapping(MapGrammar.attributeContract.members(of: contract, writer))
      }
    )
  }
}

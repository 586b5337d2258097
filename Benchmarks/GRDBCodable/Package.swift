// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "GRDBCodable",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")
  ],
  targets: [
    .executableTarget(
      name: "GRDBCodable",
      dependencies: [.product(name: "GRDB", package: "GRDB.swift")]
    )
  ]
)

// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "ContextsBench",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "contexts-bench", targets: ["ContextsBench"])],
  dependencies: [
    .package(name: "Dragoman", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "ContextsBench",
      dependencies: [.product(name: "Dragoman", package: "Dragoman")],
      swiftSettings: [.swiftLanguageMode(.v6)]
    )
  ],
  cxxLanguageStandard: .cxx17
)

// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that nothing of it is part of an ordinary build. Scripts/torture/fuzzing.py builds it with
// libFuzzer and the address sanitizer.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Dragoman", path: "../../..")],
  targets: [
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        .product(name: "Dragoman", package: "Dragoman"),
        .product(name: "DragomanGraph", package: "Dragoman"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-parse-as-library"])]
    )
  ]
)

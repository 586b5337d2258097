// swift-tools-version: 6.1
import CompilerPluginSupport
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "Dragoman",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Dragoman", targets: ["Dragoman"]),
    .library(name: "DragomanGraph", targets: ["DragomanGraph"]),
    .library(name: "DragomanPostgreSQL", targets: ["DragomanPostgreSQL"]),
    .library(name: "DragomanEntities", targets: ["DragomanEntities"]),
    .library(name: "DragomanOperators", targets: ["DragomanOperators"]),
    .executable(name: "dragoman", targets: ["DragomanCLI"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
  ],
  targets: [
    // The object graph: model, fetching, store. Knows nothing of feeds.
    .target(
      name: "DragomanGraph",
      dependencies: [
        "CExtendedAttributes", "CSQLiteSession", "CSwiftRuntime", "CZlib",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "HashTreeCollections", package: "swift-collections"),
      ],
      swiftSettings: swiftSettings
    ),
    // A server in place of a file: libpq, and stacks on it.
    .target(
      name: "DragomanPostgreSQL",
      dependencies: ["DragomanGraph", "CPostgreSQL"],
      swiftSettings: swiftSettings
    ),
    // Operators for conformances of values that are written by hand; few need them.
    .target(
      name: "DragomanOperators",
      dependencies: ["DragomanGraph"],
      swiftSettings: swiftSettings
    ),
    // The pipeline: foreign values, readers, maps, import. In the order in which a record travels.
    .target(
      name: "Dragoman",
      dependencies: [
        "DragomanGraph", "CCurl", "CSimdJSON", "CLibXML2", "CZlib", "CZstd",
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "Yams", package: "Yams"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings,
      // A part of glibc elsewhere.
      linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS]))]
    ),
    // Pages for a browser: `dragoman serve`. Its templates, style and script are built into the tool.
    .target(
      name: "DragomanConsole",
      dependencies: [
        "Dragoman",
        .product(name: "FlyingSocks", package: "FlyingFox"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Mustache", package: "swift-mustache"),
      ],
      resources: [
        .embedInCode("Assets/cell.mustache"),
        .embedInCode("Assets/change.mustache"),
        .embedInCode("Assets/console.css"),
        .embedInCode("Assets/console.js"),
        .embedInCode("Assets/entity.mustache"),
        .embedInCode("Assets/error.mustache"),
        .embedInCode("Assets/fault.mustache"),
        .embedInCode("Assets/frame.mustache"),
        .embedInCode("Assets/history.mustache"),
        .embedInCode("Assets/icon.svg"),
        .embedInCode("Assets/import.mustache"),
        .embedInCode("Assets/job.mustache"),
        .embedInCode("Assets/live.mustache"),
        .embedInCode("Assets/model.mustache"),
        .embedInCode("Assets/object.mustache"),
        .embedInCode("Assets/origins.mustache"),
        .embedInCode("Assets/overview.mustache"),
        .embedInCode("Assets/profile.mustache"),
        .embedInCode("Assets/profilecard.mustache"),
        .embedInCode("Assets/reject.mustache"),
        .embedInCode("Assets/rejects.mustache"),
        .embedInCode("Assets/run.mustache"),
        .embedInCode("Assets/runs.mustache"),
        .embedInCode("Assets/undo.mustache"),
      ],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "DragomanCLI",
      dependencies: [
        "Dragoman", "DragomanConsole", "DragomanPostgreSQL", "CSQLiteSettings",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      // A link to docs/errors.md: what `dragoman explain` prints.
      resources: [.embedInCode("Words/Explained/errors.md")],
      swiftSettings: swiftSettings
    ),

    // Entities as Swift types: the macro @Entity. A product of its own, so that neither the tool nor
    // anyone who does without the macro compiles swift-syntax.
    .target(
      name: "DragomanEntities",
      dependencies: ["DragomanGraph", "DragomanMacros"],
      swiftSettings: swiftSettings
    ),
    .macro(
      name: "DragomanMacros",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
      ],
      swiftSettings: swiftSettings
    ),

    // One function of Swift's runtime that Swift itself may not name.
    .target(name: "CSwiftRuntime"),
    // One function of SQLite that Swift does not import; what uses it is linked with SQLite anyway.
    .target(name: "CSQLiteSettings"),
    // libcurl, loaded when the first feed is fetched.
    .target(name: "CCurl"),
    // libpq, loaded when the first server is connected to.
    .target(name: "CPostgreSQL"),
    // What the C library's module leaves out.
    .target(name: "CExtendedAttributes"),
    // SQLite's session extension, which its header hides.
    .target(name: "CSQLiteSession"),

    // C and C++ libraries of the system; Scripts/setup.sh installs them.
    .target(
      name: "CSimdJSON",
      // simdjson's checks of its own callers.
      cxxSettings: [.define("NDEBUG", .when(configuration: .release))],
      linkerSettings: [.linkedLibrary("simdjson")]
    ),
    .systemLibrary(
      name: "CLibXML2",
      pkgConfig: "libxml-2.0",
      providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]
    ),
    .systemLibrary(
      name: "CZlib",
      pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
    ),
    .systemLibrary(
      name: "CZstd",
      pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]
    ),

    // What tests of several targets need: random draws, and where SwiftPM puts what it builds.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: swiftSettings),
    // PostgreSQL servers of the tests' own.
    .target(name: "TestServer", path: "Tests/TestServer", swiftSettings: swiftSettings),
    .testTarget(
      name: "DragomanGraphTests",
      dependencies: [
        // Random work in contexts imports, too.
        "DragomanGraph", "Dragoman", "DragomanOperators", "DragomanPostgreSQL", "TestSupport",
        "TestServer",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: swiftSettings
    ),
    // Asks the built plugin as the compiler does. A test target that depended on the macro itself would
    // make SwiftPM build all modules twice, for the host and for the target.
    .testTarget(
      name: "DragomanMacrosTests",
      dependencies: ["DragomanEntities", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "DragomanTests",
      dependencies: [
        "Dragoman", "DragomanPostgreSQL", "DragomanEntities", "DragomanOperators", "TestSupport",
        "TestServer",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "DragomanConsoleTests",
      dependencies: ["Dragoman", "DragomanConsole"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "DragomanCLITests",
      dependencies: ["Dragoman", "DragomanPostgreSQL", "DragomanCLI", "TestServer", "TestSupport"],
      swiftSettings: swiftSettings
    ),
  ],
  cxxLanguageStandard: .cxx17
)

// swift-tools-version: 6.2

import PackageDescription

// script/fuzz alone sets it: the parsers tell libFuzzer which of their branches an input takes.
let fuzzing: [SwiftSetting] =
    Context.environment["COUNTERFOIL_FUZZING"] == nil
    ? [] : [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library", "-enable-testing"])]

// Continuous integration sets it. Elsewhere a newer compiler or package that deprecates something is no error.
let strictness: [SwiftSetting] =
    Context.environment["COUNTERFOIL_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + strictness + fuzzing

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioHPACK: Target.Dependency = .product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2: Target.Dependency = .product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let otel: Target.Dependency = .product(name: "OTel", package: "swift-otel")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")

// Apple's systems have URLSession and Security.framework. Elsewhere the client needs SwiftNIO and BoringSSL.
let exceptApple = TargetDependencyCondition.when(platforms: [.linux, .android, .windows])
let rsa: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto", condition: exceptApple)
let http: [Target.Dependency] = [
    .product(name: "AsyncHTTPClient", package: "async-http-client", condition: exceptApple),
    .product(name: "NIOCore", package: "swift-nio", condition: exceptApple),
    .product(name: "NIOHTTP1", package: "swift-nio", condition: exceptApple),
    .product(name: "NIOPosix", package: "swift-nio", condition: exceptApple),
    .product(name: "NIOSSL", package: "swift-nio-ssl", condition: exceptApple),
]

let package = Package(
    name: "Counterfoil",
    // Hummingbird's `Application` and `withDiscardingTaskGroup` of the server need macOS 14.
    platforms: [.macOS(.v14), .iOS(.v16)],
    products: [
        .library(name: "CounterfoilProtocol", targets: ["CounterfoilProtocol"]),
        .library(name: "CounterfoilTokens", targets: ["CounterfoilTokens"]),
        .library(name: "CounterfoilClient", targets: ["CounterfoilClient"]),
        .library(name: "CounterfoilServer", targets: ["CounterfoilServer"]),
        .library(name: "CounterfoilConsole", targets: ["CounterfoilConsole"]),
        .library(name: "CounterfoilPostgreSQL", targets: ["CounterfoilPostgreSQL"]),
        .library(name: "CounterfoilSQLite", targets: ["CounterfoilSQLite"]),
        .library(name: "CounterfoilWeb", targets: ["CounterfoilWeb"]),
        .library(name: "CounterfoilResource", targets: ["CounterfoilResource"]),
        .library(name: "CounterfoilHummingbird", targets: ["CounterfoilHummingbird"]),
        .library(name: "CounterfoilClientTesting", targets: ["CounterfoilClientTesting"]),
        .library(name: "CounterfoilServerTesting", targets: ["CounterfoilServerTesting"]),
        .executable(name: "counterfoil", targets: ["counterfoil"]),
        .executable(name: "counterfoil-server", targets: ["counterfoil-server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.19.3"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.4.1"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.44.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.1"),
        // Without the trait, it would bring gRPC, too.
        .package(url: "https://github.com/swift-otel/swift-otel", from: "1.5.0", traits: ["OTLPHTTP"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // The words on the wire, and signed things.
        .target(name: "CounterfoilProtocol", dependencies: [crypto], swiftSettings: settings),
        .target(
            name: "CounterfoilTokens",
            dependencies: ["CounterfoilProtocol", crypto, rsa],
            swiftSettings: settings
        ),

        // QR codes. The C library is loaded at run time.
        .target(name: "QRCode", swiftSettings: settings),

        // The client.
        .target(
            name: "CounterfoilClient",
            dependencies: ["CounterfoilProtocol", "CounterfoilTokens", crypto, httpTypes] + http,
            resources: [.embedInCode("Redirect/Pages")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "counterfoil",
            dependencies: [
                "CounterfoilClient", "CounterfoilProtocol", "CounterfoilTokens", "QRCode", argumentParser, httpTypes,
            ],
            swiftSettings: settings
        ),

        // The authorization server.
        .systemLibrary(
            name: "CArgon2",
            pkgConfig: "libargon2",
            providers: [.apt(["libargon2-dev"]), .brew(["argon2"])]
        ),
        .systemLibrary(
            name: "CCmark",
            pkgConfig: "libcmark",
            providers: [.apt(["libcmark-dev"]), .brew(["cmark"])]
        ),
        .systemLibrary(
            name: "CPNG",
            pkgConfig: "libpng",
            providers: [.apt(["libpng-dev"]), .brew(["libpng"])]
        ),
        .systemLibrary(
            name: "CTurboJPEG",
            pkgConfig: "libturbojpeg",
            providers: [.apt(["libturbojpeg0-dev"]), .brew(["jpeg-turbo"])]
        ),
        .target(
            name: "CounterfoilServer",
            dependencies: [
                "CounterfoilProtocol", "CounterfoilTokens", "CArgon2", "CCmark", "CPNG", "CTurboJPEG", crypto,
                cryptoExtras, httpTypes, logging,
            ],
            resources: [
                .embedInCode("Localization/Catalogue"), .embedInCode("SignIn/Passwords/common-passwords.txt"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilConsole",
            dependencies: ["CounterfoilProtocol", "CounterfoilServer", "CounterfoilTokens", httpTypes, logging],
            resources: [.embedInCode("Templates")],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilSQL",
            dependencies: ["CounterfoilProtocol", "CounterfoilServer", "CounterfoilTokens"],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilSQLite",
            dependencies: [
                "CounterfoilProtocol", "CounterfoilServer", "CounterfoilSQL", "CounterfoilTokens",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .target(
            name: "CounterfoilPostgreSQL",
            dependencies: ["CLibPQ", "CounterfoilProtocol", "CounterfoilServer", "CounterfoilSQL"],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilWeb",
            dependencies: [
                "CounterfoilProtocol", "CounterfoilServer", "CounterfoilTokens", asn1, asyncHTTPClient, crypto,
                httpTypes,
                hummingbird, logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL, nioTLS,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras"), serviceLifecycle,
                x509,
            ],
            resources: [.embedInCode("Assets"), .embedInCode("Templates")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "counterfoil-server",
            dependencies: [
                "CounterfoilConsole", "CounterfoilPostgreSQL", "CounterfoilProtocol", "CounterfoilServer",
                "CounterfoilSQL", "CounterfoilSQLite", "CounterfoilTokens", "CounterfoilWeb", argumentParser,
                asyncHTTPClient, logging, nioCore, nioHTTP1, nioSSL, otel, serviceLifecycle, tracing, unixSignals,
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: settings
        ),

        // The resource server.
        .target(
            name: "CounterfoilResource",
            dependencies: [
                "CounterfoilProtocol", "CounterfoilTokens", asyncHTTPClient, crypto, httpTypes, nioCore, nioHTTP1,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilHummingbird",
            dependencies: ["CounterfoilProtocol", "CounterfoilResource", httpTypes, hummingbird, logging, nioCore],
            swiftSettings: settings
        ),

        // Examples: an API whose photos belong to people, an MCP server, and native apps that call an API.
        .executableTarget(
            name: "photo-library",
            dependencies: [
                "CounterfoilHummingbird", "CounterfoilProtocol", "CounterfoilResource", argumentParser, httpTypes,
                hummingbird,
                logging, nioCore,
            ],
            path: "Examples/PhotoLibrary",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "mcp-server",
            dependencies: [
                "CounterfoilHummingbird", "CounterfoilProtocol", "CounterfoilResource", argumentParser, httpTypes,
                hummingbird, logging, nioCore,
            ],
            path: "Examples/MCPServer",
            exclude: ["README.md"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "lightbox",
            dependencies: ["CounterfoilClient", "CounterfoilProtocol"],
            path: "Examples/Lightbox",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "nightly-job",
            dependencies: ["CounterfoilClient", "CounterfoilProtocol"],
            path: "Examples/NightlyJob",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "mcp-client",
            dependencies: ["CounterfoilClient", "CounterfoilProtocol", httpTypes],
            path: "Examples/MCPClient",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "several-servers",
            dependencies: ["CounterfoilClient", "CounterfoilProtocol"],
            path: "Examples/SeveralServers",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "terminal",
            dependencies: ["CounterfoilClient"],
            path: "Examples/Terminal",
            swiftSettings: settings
        ),

        // What fills a store, so that a server can be measured with it.
        .executableTarget(
            name: "fill-store",
            dependencies: ["CounterfoilProtocol", "CounterfoilServer", "CounterfoilSQLite"],
            path: "Benchmarks/Fill",
            swiftSettings: settings
        ),

        // For tests, here and in other packages.
        .target(
            name: "CounterfoilClientTesting",
            dependencies: [
                "CounterfoilProtocol", "CounterfoilTokens", crypto, httpTypes, nioCore, nioHTTP1, nioPosix,
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilServerTesting",
            dependencies: [
                "CounterfoilConsole", "CounterfoilProtocol", "CounterfoilServer", "CounterfoilSQL", "CounterfoilSQLite",
                "CounterfoilTokens", "CounterfoilWeb", httpTypes, logging,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            dependencies: ["CounterfoilClient", "CounterfoilProtocol", asn1, crypto, httpTypes, nioSSL, x509],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "PostgreSQLTesting",
            dependencies: ["CounterfoilPostgreSQL", "CounterfoilProtocol", "TestSupport"],
            path: "Tests/PostgreSQLTesting",
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilProtocolTests", dependencies: ["CounterfoilProtocol", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilTokensTests",
            dependencies: [
                "CounterfoilProtocol", "CounterfoilTokens", crypto, .product(name: "JWTKit", package: "jwt-kit"),
            ],
            swiftSettings: settings
        ),
        .testTarget(name: "QRCodeTests", dependencies: ["QRCode", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "CounterfoilClientTests",
            dependencies: [
                "CounterfoilClient", "CounterfoilClientTesting", "CounterfoilProtocol", "CounterfoilTokens",
                "TestSupport", "counterfoil", "mcp-client", "terminal", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilClientTestingTests",
            dependencies: [
                "CounterfoilClient", "CounterfoilClientTesting", "CounterfoilProtocol", "CounterfoilTokens",
                "TestSupport", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "CounterfoilClient", "CounterfoilClientTesting", "CounterfoilProtocol", "CounterfoilSQLite",
                "CounterfoilServer", "CounterfoilTokens", "CounterfoilWeb", "TestSupport", "counterfoil",
                "counterfoil-server", argumentParser, httpTypes,
            ],
            exclude: ["Help"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilServerTests",
            dependencies: [
                "CounterfoilConsole", "CounterfoilProtocol", "CounterfoilServer", "CounterfoilServerTesting",
                "CounterfoilTokens", "CPNG", "CTurboJPEG", "TestSupport", crypto, httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilConsoleTests",
            dependencies: [
                "CounterfoilConsole", "CounterfoilProtocol", "CounterfoilServer", "CounterfoilServerTesting",
                "CounterfoilTokens", "CounterfoilWeb", "TestSupport", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilWebTests",
            dependencies: [
                "CounterfoilConsole", "CounterfoilProtocol", "CounterfoilServer", "CounterfoilServerTesting",
                "CounterfoilTokens", "CounterfoilWeb", "TestSupport", asn1, crypto, httpTypes, logging, nioCore,
                nioHPACK, nioHTTP2, nioPosix,
                nioSSL, nioTLS, serviceLifecycle, x509,
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilSQLiteTests",
            dependencies: [
                "CounterfoilProtocol", "CounterfoilServer", "CounterfoilServerTesting", "CounterfoilSQL",
                "CounterfoilSQLite", "CounterfoilTokens", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilPostgreSQLTests",
            dependencies: [
                "CounterfoilPostgreSQL", "CounterfoilProtocol", "CounterfoilServer", "CounterfoilServerTesting",
                "CounterfoilSQL", "PostgreSQLTesting", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "StoreContractTests",
            dependencies: [
                "CounterfoilConsole", "CounterfoilPostgreSQL", "CounterfoilProtocol", "CounterfoilServer",
                "CounterfoilServerTesting", "CounterfoilSQL", "CounterfoilSQLite", "CounterfoilTokens",
                "PostgreSQLTesting", "TestSupport", httpTypes,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilResourceTests",
            dependencies: [
                "CounterfoilClient", "CounterfoilClientTesting", "CounterfoilHummingbird", "CounterfoilProtocol",
                "CounterfoilResource", "CounterfoilServerTesting", "CounterfoilTokens", "mcp-server", "photo-library",
                argumentParser, crypto, httpTypes, hummingbird, logging,
                .product(name: "HummingbirdTesting", package: "hummingbird"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CounterfoilClient", "CounterfoilConsole", "CounterfoilPostgreSQL", "CounterfoilProtocol",
                "CounterfoilServer",
                "CounterfoilServerTesting", "CounterfoilSQLite", "CounterfoilTokens", "CounterfoilWeb",
                "PostgreSQLTesting", "TestSupport", "counterfoil", "counterfoil-server", "lightbox", "mcp-server",
                "nightly-job", "photo-library", asyncHTTPClient, crypto, httpTypes, nioCore, nioHTTP1, nioPosix, nioSSL,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "BrowserTests",
            dependencies: [
                "CounterfoilConsole", "CounterfoilProtocol", "CounterfoilSQLite", "CounterfoilServer", "CounterfoilWeb",
                "TestSupport", "counterfoil", "counterfoil-server", "photo-library", asyncHTTPClient, nioCore,
                nioHTTP1,
            ],
            swiftSettings: settings
        ),
    ]
)

// The workflow for Apple's systems sets it: the server has never been compiled there.
if Context.environment["COUNTERFOIL_CLIENT_ONLY"] != nil {
    let client: Set = [
        "CounterfoilProtocol", "CounterfoilTokens", "CounterfoilClient", "CounterfoilClientTesting", "QRCode",
        "counterfoil", "mcp-client", "terminal", "TestSupport", "CounterfoilProtocolTests", "CounterfoilTokensTests",
        "CounterfoilClientTests", "CounterfoilClientTestingTests", "QRCodeTests",
    ]
    package.targets.removeAll { !client.contains($0.name) }
    package.products.removeAll { !client.contains($0.name) }
}

// swift-tools-version: 6.2

import PackageDescription

// Continuous integration sets it. Elsewhere a newer compiler or package that deprecates something is no error.
let strictness: [SwiftSetting] =
    Context.environment["COUNTERFOIL_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + strictness

let counterfoilClient: Target.Dependency = .product(name: "CounterfoilClient", package: "Counterfoil")
let counterfoilClientTesting: Target.Dependency = .product(name: "CounterfoilClientTesting", package: "Counterfoil")
let counterfoilHummingbird: Target.Dependency = .product(name: "CounterfoilHummingbird", package: "Counterfoil")
let counterfoilProtocol: Target.Dependency = .product(name: "CounterfoilProtocol", package: "Counterfoil")
let counterfoilResource: Target.Dependency = .product(name: "CounterfoilResource", package: "Counterfoil")
let counterfoilTokens: Target.Dependency = .product(name: "CounterfoilTokens", package: "Counterfoil")
let qrCode: Target.Dependency = .product(name: "QRCode", package: "Counterfoil")

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdTesting: Target.Dependency = .product(name: "HummingbirdTesting", package: "hummingbird")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let nioConcurrencyHelpers: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHPACK: Target.Dependency = .product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2: Target.Dependency = .product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let otel: Target.Dependency = .product(name: "OTel", package: "swift-otel")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")

// The authorization server. What it shares with apps and APIs is the package in the folder above.
let package = Package(
    name: "CounterfoilServer",
    // Hummingbird's `Application` and `withDiscardingTaskGroup` need macOS 14.
    platforms: [.macOS(.v14)],
    products: [
        .library(name: "CounterfoilStore", targets: ["CounterfoilStore"]),
        .library(name: "CounterfoilServer", targets: ["CounterfoilServer"]),
        .library(name: "CounterfoilPages", targets: ["CounterfoilPages"]),
        .library(name: "CounterfoilConsole", targets: ["CounterfoilConsole"]),
        .library(name: "CounterfoilPostgreSQL", targets: ["CounterfoilPostgreSQL"]),
        .library(name: "CounterfoilSQLite", targets: ["CounterfoilSQLite"]),
        .library(name: "CounterfoilWeb", targets: ["CounterfoilWeb"]),
        .library(name: "CounterfoilServerTesting", targets: ["CounterfoilServerTesting"]),
        .executable(name: "counterfoil-server", targets: ["counterfoil-server"]),
    ],
    dependencies: [
        .package(name: "Counterfoil", path: "..", traits: ["Hummingbird"]),
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
        // Large files: as a literal in Swift, a megabyte takes minutes to compile.
        .target(name: "CEmbeddedFiles"),
        .target(
            name: "CounterfoilStore",
            dependencies: ["IPAddresses", counterfoilProtocol, counterfoilTokens, crypto, logging],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilServer",
            dependencies: [
                "CArgon2", "CEmbeddedFiles", counterfoilProtocol, "CounterfoilStore", counterfoilTokens, crypto,
                cryptoExtras, httpTypes,
                logging, qrCode, "WebAuthn",
            ],
            exclude: [
                "AdministrationAPI/openapi.json", "Localization/Catalogue", "SignIn/Passwords/common-passwords.txt",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilPages",
            dependencies: [
                "CCmark", "CPNG", "CTurboJPEG", counterfoilProtocol, "CounterfoilServer", "CounterfoilStore", crypto,
                .product(name: "Mustache", package: "swift-mustache"),
            ],
            resources: [.embedInCode("Assets"), .embedInCode("Templates")],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilConsole",
            dependencies: [
                "CounterfoilPages", counterfoilProtocol, "CounterfoilServer", "CounterfoilStore", counterfoilTokens,
                httpTypes, logging,
            ],
            resources: [.embedInCode("Templates")],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilSQL",
            dependencies: ["CounterfoilStore", counterfoilProtocol, counterfoilTokens],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilSQLite",
            dependencies: [
                "CounterfoilSQL", "CounterfoilStore", counterfoilProtocol, counterfoilTokens, grdb,
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
            name: "PostgreSQLDriver",
            dependencies: ["CLibPQ", nioConcurrencyHelpers],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilPostgreSQL",
            dependencies: ["CounterfoilSQL", "CounterfoilStore", counterfoilProtocol, "PostgreSQLDriver"],
            swiftSettings: settings
        ),
        // Libraries without a word of OAuth.
        .target(name: "IPAddresses", swiftSettings: settings),
        .target(
            name: "HTTPListener",
            dependencies: [
                "IPAddresses", asn1, crypto, httpTypes, logging, nioConcurrencyHelpers, nioCore, nioHPACK, nioHTTP1,
                nioHTTP2, nioPosix, nioSSL, nioTLS, serviceLifecycle, x509,
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ACMEClient",
            dependencies: [asn1, asyncHTTPClient, crypto, logging, nioCore, nioHTTP1, nioSSL, x509],
            swiftSettings: settings
        ),
        // libcurl is loaded at run time, so nothing of it is needed here.
        .systemLibrary(name: "CCurl"),
        .target(name: "MailTransport", dependencies: ["CCurl", nioConcurrencyHelpers], swiftSettings: settings),
        .target(
            name: "WebAuthn",
            dependencies: [counterfoilProtocol, counterfoilTokens, asn1, crypto, cryptoExtras, x509],
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilWeb",
            dependencies: [
                "ACMEClient", "CounterfoilPages", counterfoilProtocol, "CounterfoilServer", "CounterfoilStore",
                counterfoilTokens, "HTTPListener", "IPAddresses", "MailTransport", asn1, asyncHTTPClient, httpTypes,
                logging, nioCore, nioHTTP1, nioPosix, nioSSL, nioTLS, serviceLifecycle, x509,
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "counterfoil-server",
            dependencies: [
                "ACMEClient", "CounterfoilConsole", "CounterfoilPages", "CounterfoilPostgreSQL", counterfoilProtocol,
                "CounterfoilServer", "CounterfoilStore", "CounterfoilSQL", "CounterfoilSQLite", counterfoilTokens,
                "CounterfoilWeb", "HTTPListener", "MailTransport", argumentParser, asyncHTTPClient, httpTypes, logging,
                nioCore, nioHTTP1, nioSSL, otel, serviceLifecycle, tracing, unixSignals,
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: settings
        ),
        // Examples: an API whose photos belong to people, an MCP server, and native apps that call an API.
        .executableTarget(
            name: "photo-library",
            dependencies: [
                counterfoilHummingbird, counterfoilProtocol, counterfoilResource, argumentParser, crypto, httpTypes,
                hummingbird, logging, nioCore,
            ],
            path: "Examples/PhotoLibrary",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "mcp-server",
            dependencies: [
                counterfoilHummingbird, counterfoilProtocol, counterfoilResource, argumentParser, httpTypes,
                hummingbird, logging, nioCore,
            ],
            path: "Examples/MCPServer",
            exclude: ["README.md"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "photo-routes",
            dependencies: [counterfoilHummingbird, counterfoilProtocol, counterfoilResource, hummingbird],
            path: "Examples/PhotoRoutes",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "protected-mcp-server",
            dependencies: [counterfoilHummingbird, counterfoilProtocol, counterfoilResource, hummingbird],
            path: "Examples/ProtectedMCPServer",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "sign-in-page",
            dependencies: [
                counterfoilProtocol, counterfoilResource, counterfoilTokens, httpTypes, hummingbird, nioCore,
            ],
            path: "Examples/SwiftSignInPage",
            swiftSettings: settings
        ),
        // What fills a store, so that a server can be measured with it.
        .executableTarget(
            name: "fill-store",
            dependencies: [
                counterfoilProtocol, "CounterfoilPostgreSQL", "CounterfoilServer", "CounterfoilSQLite",
                "CounterfoilStore",
            ],
            path: "Benchmarks/Fill",
            swiftSettings: settings
        ),
        .target(
            name: "CounterfoilServerTesting",
            dependencies: [
                "CounterfoilConsole", "CounterfoilPages", counterfoilProtocol, "CounterfoilServer", "CounterfoilStore",
                "CounterfoilSQL", "CounterfoilSQLite", counterfoilTokens, crypto, httpTypes, logging,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            dependencies: [counterfoilClient, counterfoilProtocol, asn1, crypto, httpTypes, nioSSL, x509],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "PostgreSQLTesting",
            dependencies: ["CounterfoilPostgreSQL", counterfoilProtocol, "TestSupport"],
            path: "Tests/PostgreSQLTesting",
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilTokensOracleTests",
            dependencies: [
                counterfoilProtocol, counterfoilTokens, crypto, .product(name: "JWTKit", package: "jwt-kit"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilHummingbirdTests",
            dependencies: [
                counterfoilClient, counterfoilClientTesting, counterfoilHummingbird, counterfoilProtocol,
                counterfoilResource, counterfoilTokens, "CounterfoilServerTesting", "mcp-server", "photo-library",
                argumentParser, crypto, httpTypes, hummingbird, hummingbirdTesting, logging,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ServerCommandTests",
            dependencies: [
                counterfoilClient, counterfoilProtocol, counterfoilTokens, "CounterfoilPostgreSQL", "CounterfoilSQL",
                "CounterfoilSQLite", "CounterfoilServer", "CounterfoilStore", "CounterfoilWeb", "HTTPListener",
                "TestSupport", "counterfoil-server", argumentParser, httpTypes,
            ],
            exclude: ["Help"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilServerTests",
            dependencies: [
                "CounterfoilConsole", "CounterfoilPages", counterfoilProtocol, "CounterfoilServer", "CounterfoilStore",
                "CounterfoilServerTesting", counterfoilTokens, "TestSupport", crypto, httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilPagesTests",
            dependencies: [
                "CPNG", "CTurboJPEG", "CounterfoilPages", "CounterfoilServer", "CounterfoilServerTesting",
                "CounterfoilStore", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilConsoleTests",
            dependencies: [
                "CounterfoilConsole", "CounterfoilPages", counterfoilProtocol, "CounterfoilServer", "CounterfoilStore",
                "CounterfoilServerTesting", counterfoilTokens, "TestSupport", httpTypes,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "HTTPListenerTesting",
            dependencies: [
                "HTTPListener", "TestSupport", logging, nioConcurrencyHelpers, nioCore, nioHPACK, nioHTTP2, nioPosix,
                nioSSL, nioTLS, serviceLifecycle,
            ],
            path: "Tests/HTTPListenerTesting",
            swiftSettings: settings
        ),
        .target(
            name: "ACMETesting",
            dependencies: ["ACMEClient", "TestSupport", crypto, nioConcurrencyHelpers, nioCore, nioPosix, x509],
            path: "Tests/ACMETesting",
            swiftSettings: settings
        ),
        .target(
            name: "MailTesting",
            dependencies: [counterfoilClient, nioConcurrencyHelpers, "TestSupport"],
            path: "Tests/MailTesting",
            exclude: ["receiver.py"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MailTransportTests",
            dependencies: ["MailTesting", "MailTransport", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(name: "IPAddressesTests", dependencies: ["IPAddresses"], swiftSettings: settings),
        .testTarget(
            name: "HTTPListenerTests",
            dependencies: [
                "HTTPListener", "HTTPListenerTesting", "IPAddresses", "TestSupport", crypto, httpTypes, logging,
                nioConcurrencyHelpers, nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL, x509,
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ACMEClientTests",
            dependencies: [
                "ACMEClient", "ACMETesting", "TestSupport", asn1, crypto, logging, nioConcurrencyHelpers, x509,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WebAuthnTests",
            dependencies: ["WebAuthn", counterfoilProtocol, asn1, crypto, cryptoExtras, x509],
            exclude: ["Vectors"],
            swiftSettings: settings
        ),
        // Interop/webauthn compares its verdicts with those of other implementations.
        .executableTarget(
            name: "webauthn-verdicts",
            dependencies: ["WebAuthn", counterfoilProtocol],
            path: "Tests/WebAuthnVerdicts",
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilWebTests",
            dependencies: [
                "ACMEClient", "ACMETesting", "CounterfoilConsole", "CounterfoilPages", counterfoilProtocol,
                "CounterfoilServer", "CounterfoilServerTesting", "CounterfoilStore", counterfoilTokens,
                "CounterfoilWeb", "HTTPListener", "HTTPListenerTesting", "MailTesting", "MailTransport", "TestSupport",
                asn1, crypto, httpTypes, logging, nioConcurrencyHelpers, nioCore, nioHTTP2, nioPosix, nioSSL, nioTLS,
                serviceLifecycle, x509,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilSQLiteTests",
            dependencies: [
                counterfoilProtocol, "CounterfoilServer", "CounterfoilStore", "CounterfoilServerTesting",
                "CounterfoilSQL",
                "CounterfoilSQLite", counterfoilTokens, "TestSupport",
                grdb,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PostgreSQLDriverTests",
            dependencies: ["PostgreSQLDriver", "PostgreSQLTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilPostgreSQLTests",
            dependencies: [
                "CounterfoilPostgreSQL", counterfoilProtocol, "CounterfoilServer", "CounterfoilStore",
                "CounterfoilServerTesting",
                "CounterfoilSQL", "PostgreSQLDriver", "PostgreSQLTesting", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "StoreContractTests",
            dependencies: [
                "CounterfoilConsole", "CounterfoilPostgreSQL", counterfoilProtocol, "CounterfoilServer",
                "CounterfoilStore",
                "CounterfoilServerTesting", "CounterfoilSQL", "CounterfoilSQLite", counterfoilTokens,
                "PostgreSQLTesting", "TestSupport", httpTypes,
                grdb,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                counterfoilClient, "CounterfoilConsole", "CounterfoilPostgreSQL", counterfoilProtocol,
                "CounterfoilServer", "CounterfoilStore",
                "CounterfoilServerTesting", "CounterfoilSQLite", counterfoilTokens, "CounterfoilWeb", "MailTesting",
                "PostgreSQLTesting", "TestSupport", "counterfoil-server", "mcp-server",
                "photo-library", asyncHTTPClient, crypto, httpTypes, nioCore, nioHTTP1, nioPosix, nioSSL,
                grdb,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "BrowserTests",
            dependencies: [
                "CounterfoilConsole", "CounterfoilPages", counterfoilProtocol, "CounterfoilSQLite", "CounterfoilServer",
                "CounterfoilStore", "TestSupport", "counterfoil-server", "photo-library", "sign-in-page",
                asyncHTTPClient, nioCore, nioHTTP1,
            ],
            swiftSettings: settings
        ),
    ]
)

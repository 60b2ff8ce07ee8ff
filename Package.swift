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
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")

// Without the trait, no program resolves Hummingbird.
let withHummingbird: TargetDependencyCondition? = .when(traits: ["Hummingbird"])
let hummingbird: Target.Dependency = .product(
    name: "Hummingbird", package: "hummingbird", condition: withHummingbird)
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log", condition: withHummingbird)

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

// What apps and APIs use. The authorization server is the package in the folder Server.
let package = Package(
    name: "Counterfoil",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .library(name: "CounterfoilProtocol", targets: ["CounterfoilProtocol"]),
        .library(name: "CounterfoilTokens", targets: ["CounterfoilTokens"]),
        .library(name: "CounterfoilClient", targets: ["CounterfoilClient"]),
        .library(name: "CounterfoilResource", targets: ["CounterfoilResource"]),
        .library(name: "CounterfoilHummingbird", targets: ["CounterfoilHummingbird"]),
        .library(name: "CounterfoilClientTesting", targets: ["CounterfoilClientTesting"]),
        .library(name: "QRCode", targets: ["QRCode"]),
        .executable(name: "counterfoil", targets: ["counterfoil"]),
    ],
    traits: [
        .trait(name: "Hummingbird", description: "Adds the middleware for Hummingbird, CounterfoilHummingbird."),
        .default(enabledTraits: []),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.19.3"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        // Foundation and the C library, under one name on every system.
        .target(name: "CounterfoilPlatform", swiftSettings: settings),
        // The words on the wire, and signed things.
        .target(name: "CounterfoilProtocol", dependencies: ["CounterfoilPlatform", crypto], swiftSettings: settings),
        .target(
            name: "CounterfoilTokens",
            dependencies: ["CounterfoilPlatform", "CounterfoilProtocol", crypto, rsa],
            swiftSettings: settings
        ),
        // QR codes. The C library is loaded at run time.
        .target(name: "QRCode", dependencies: ["CounterfoilPlatform"], swiftSettings: settings),
        // The client.
        .target(
            name: "CounterfoilClient",
            dependencies: ["CounterfoilPlatform", "CounterfoilProtocol", "CounterfoilTokens", crypto, httpTypes] + http,
            resources: [.embedInCode("Redirect/Pages")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "counterfoil",
            dependencies: [
                "CounterfoilClient", "CounterfoilPlatform", "CounterfoilProtocol", "CounterfoilTokens", "QRCode",
                argumentParser, httpTypes,
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
            dependencies: [
                "CounterfoilProtocol", "CounterfoilResource", httpTypes, hummingbird, logging, nioCore,
            ],
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
        .target(
            name: "TestSupport",
            dependencies: ["CounterfoilClient", "CounterfoilProtocol", asn1, crypto, httpTypes, nioSSL, x509],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilProtocolTests", dependencies: ["CounterfoilProtocol", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilTokensTests",
            dependencies: ["CounterfoilProtocol", "CounterfoilTokens", crypto],
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
                "CounterfoilClient", "CounterfoilClientTesting", "CounterfoilProtocol", "CounterfoilTokens",
                "TestSupport", "counterfoil", argumentParser, httpTypes,
            ],
            exclude: ["Help"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CounterfoilResourceTests",
            dependencies: [
                "CounterfoilClientTesting", "CounterfoilProtocol", "CounterfoilResource", "CounterfoilTokens", crypto,
                httpTypes,
            ],
            swiftSettings: settings
        ),
    ]
)

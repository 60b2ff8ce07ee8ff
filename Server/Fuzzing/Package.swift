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

// This package links the engine of libFuzzer. script/fuzz builds it and sets COUNTERFOIL_FUZZING, which
// instruments the parsers for coverage.
let package = Package(
    name: "Fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Counterfoil", path: "../.."),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.19.3"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "CLibFuzzer"),
        // A link to the module of the server, whose declarations are for its own package only.
        .target(
            name: "WebAuthn",
            dependencies: [
                .product(name: "CounterfoilProtocol", package: "Counterfoil"),
                .product(name: "CounterfoilTokens", package: "Counterfoil"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: settings + [
                .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library", "-enable-testing"])
            ]
        ),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CLibFuzzer", "WebAuthn",
                .product(name: "CounterfoilClient", package: "Counterfoil"),
                .product(name: "CounterfoilProtocol", package: "Counterfoil"),
                .product(name: "CounterfoilTokens", package: "Counterfoil"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
    ]
)

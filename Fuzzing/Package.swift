// swift-tools-version: 6.2
import PackageDescription

// Built by script/fuzz, which sets COUNTERFOIL_FUZZING, so that the parsers tell libFuzzer which of their branches an input
// takes, and links libFuzzer's engine.
let package = Package(
    name: "Fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Counterfoil", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "CLibFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CLibFuzzer",
                .product(name: "CounterfoilClient", package: "Counterfoil"),
                .product(name: "CounterfoilProtocol", package: "Counterfoil"),
                .product(name: "CounterfoilTokens", package: "Counterfoil"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("ExistentialAny"),
                .treatAllWarnings(as: .error),
            ]
        ),
    ]
)

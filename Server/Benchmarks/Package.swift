// swift-tools-version: 6.2
import PackageDescription

// Continuous integration sets it. Elsewhere a newer compiler or package that deprecates something is no error.
let strictness: [SwiftSetting] =
    Context.environment["COUNTERFOIL_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2")
    ],
    targets: [
        .executableTarget(
            name: "loadgen",
            dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ] + strictness
        )
    ]
)

import Foundation

/// A program that this package builds, found beside the tests.
enum Product: String, Sendable {
    case server = "counterfoil-server"
    case client = "counterfoil"
    case photoLibrary = "photo-library"

    /// The program is not where the tests are.
    struct NotBuilt: Error, CustomStringConvertible {
        let description: String
    }

    /// Where the program is.
    var executable: URL {
        get throws {
            let program = Self.folder.appendingPathComponent(rawValue)
            guard FileManager.default.isExecutableFile(atPath: program.path) else {
                throw NotBuilt(description: "\(program.path) is not built; run: swift build --build-tests")
            }
            return program
        }
    }

    /// The folder of the tests, in which everything that they depend on was built too.
    private static var folder: URL {
        #if os(macOS)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            return (bundle ?? .main).bundleURL.deletingLastPathComponent()
        #else
            return URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
        #endif
    }
}

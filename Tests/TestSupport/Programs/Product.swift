package import Foundation

/// A program of this package, in the build folder of the tests.
package enum Product: String, Sendable {
    case server = "counterfoil-server"
    case client = "counterfoil"
    case photoLibrary = "photo-library"
    case lightbox
    case nightlyJob = "nightly-job"
    case mcpClient = "mcp-client"
    case mcpServer = "mcp-server"
    case terminal

    /// An error: the program is not in the build folder.
    package struct NotBuilt: Error, CustomStringConvertible {
        package let description: String
    }

    /// The URL of the program.
    package var executable: URL {
        get throws {
            let program = Self.folder.appendingPathComponent(rawValue)
            guard FileManager.default.isExecutableFile(atPath: program.path) else {
                throw NotBuilt(description: "\(program.path) is not built; run: swift build --build-tests")
            }
            return program
        }
    }

    /// The build folder, which contains every dependency of the tests.
    private static var folder: URL {
        #if os(macOS)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            return (bundle ?? .main).bundleURL.deletingLastPathComponent()
        #else
            return URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).resolvingSymlinksInPath()
                .deletingLastPathComponent()
        #endif
    }
}

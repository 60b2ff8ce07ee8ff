package import Foundation

/// A program of the two packages, in the folder where both were built.
package enum Product: String, Sendable {
    case server = "counterfoil-server"
    case client = "counterfoil"
    case photoLibrary = "photo-library"
    case lightbox
    case nightlyJob = "nightly-job"
    case mcpClient = "mcp-client"
    case mcpServer = "mcp-server"
    case terminal
    case signInPage = "sign-in-page"

    /// An error: the program is not in the build folder.
    package struct NotBuilt: Error, CustomStringConvertible {
        package let description: String
    }

    /// The URL of the program.
    package var executable: URL {
        get throws {
            let program = Self.folderOfTests.appendingPathComponent(rawValue)
            guard FileManager.default.isExecutableFile(atPath: program.path) else {
                throw NotBuilt(
                    description: """
                        \(program.path) is not built. Build both packages into one folder: \
                        swift build --traits Hummingbird --build-tests, and \
                        swift build --package-path Server --scratch-path .build --build-tests
                        """
                )
            }
            return program
        }
    }

    /// The build folder of the package whose tests run.
    private static var folderOfTests: URL {
        #if os(macOS)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            return (bundle ?? .main).bundleURL.deletingLastPathComponent()
        #else
            return URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).resolvingSymlinksInPath()
                .deletingLastPathComponent()
        #endif
    }
}

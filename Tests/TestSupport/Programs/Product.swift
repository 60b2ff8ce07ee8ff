package import Foundation

/// A program of the two packages, in the folder where its package was built.
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
            let program = folder.appendingPathComponent(rawValue)
            guard FileManager.default.isExecutableFile(atPath: program.path) else {
                let option = isOfServer ? " --package-path Server" : ""
                throw NotBuilt(description: "\(program.path) is not built; run: swift build\(option) --build-tests")
            }
            return program
        }
    }

    private var isOfServer: Bool {
        switch self {
        case .server, .photoLibrary, .mcpServer: true
        case .client, .lightbox, .nightlyJob, .mcpClient, .terminal: false
        }
    }

    /// The build folder of the program's package.
    private var folder: URL {
        let tests = Self.folderOfTests
        // .build/debug, or .build/TRIPLE/debug
        var package = tests.deletingLastPathComponent()
        while package.lastPathComponent != ".build", package.pathComponents.count > 1 {
            package.deleteLastPathComponent()
        }
        package.deleteLastPathComponent()
        guard package.lastPathComponent == "Server", !isOfServer else { return tests }
        return package.deletingLastPathComponent().appendingPathComponent(".build")
            .appendingPathComponent(tests.lastPathComponent)
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

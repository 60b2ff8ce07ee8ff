import Foundation
import Testing

/// A user's desktop on a virtual X server, with a home directory.
///
/// Only on a desktop does a browser pass URLs of other schemes to their programs, through `xdg-open`.
struct VirtualDesktop: Sendable {
    /// The environment for every program of the desktop.
    let environment: [String: String]
    /// The preferences of the browser.
    let preferences: JSONValue

    static let server = "/usr/bin/Xvfb"
    static let opener = "/usr/bin/xdg-open"

    /// Runs `body` with a new X server.
    ///
    /// - Parameters:
    ///   - home: The home directory of the user.
    ///   - scheme: A scheme whose URLs a site may open without asking.
    ///   - site: The origin of that site.
    static func run<Result>(
        home: String, allowing scheme: String, from site: String, _ body: (VirtualDesktop) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("desktop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = folder.appendingPathComponent("xvfb.log")
        // The X server writes the number of a free display to standard output.
        let process = try SupervisedProcess(
            server, ["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"], output: log)
        do {
            let display = try await poll("Xvfb to listen", within: .seconds(60)) {
                let text = try String(contentsOf: log, encoding: .utf8)
                return text.firstMatch(of: /(?m)^(\d+)\n/)?.output.1
            }
            var environment = ProcessInfo.processInfo.environment
            for variable in ["BROWSER", "WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
                environment[variable] = nil
            }
            environment["DISPLAY"] = ":\(display)"
            environment["HOME"] = home
            let preferences: JSONValue = [
                "protocol_handler": ["allowed_origin_protocol_pairs": .object([site: .object([scheme: true])])]
            ]
            let result = try await body(VirtualDesktop(environment: environment, preferences: preferences))
            await process.stop()
            return result
        } catch {
            await process.stop()
            throw error
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test with a reason if the X server or `xdg-open` is missing; in CI the test runs and fails
    /// instead.
    static var virtualDesktop: Self {
        .enabled("Xvfb or xdg-open is not installed (Debian: apt-get install xvfb xdg-utils)") {
            let inCI = ProcessInfo.processInfo.environment["CI"].map { !["", "0", "false"].contains($0) } ?? false
            return inCI
                || [VirtualDesktop.server, VirtualDesktop.opener].allSatisfy(FileManager.default.isExecutableFile)
        }
    }
}

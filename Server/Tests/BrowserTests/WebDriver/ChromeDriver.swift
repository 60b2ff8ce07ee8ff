import Foundation

/// A chromedriver process on a free port, with its own folder; it and its browsers end with this process at
/// the latest.
struct ChromeDriver: Sendable {
    /// The base URL of the WebDriver commands.
    let address: String
    /// The folder of the browser profile and the driver log, which ``stop()`` deletes.
    let folder: URL

    private let process: SupervisedProcess

    /// The path of the driver: `CHROMEDRIVER` or the path of Debian's package; nil if it is not installed.
    static let executable = installed("CHROMEDRIVER", ["/usr/bin/chromedriver", "/usr/local/bin/chromedriver"])
    /// The path of the browser: `CHROMIUM` or the path of Debian's package; nil if it is not installed.
    static let browser = installed(
        "CHROMIUM", ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"])

    /// Starts the driver, on a desktop if there is one, and waits until it listens.
    static func start(on desktop: VirtualDesktop? = nil) async throws -> ChromeDriver {
        guard let executable else { throw WebDriverError.notInstalled("chromedriver") }
        // The driver chooses a port that is free for IPv4; if the port is taken for IPv6, it exits or
        // hangs. So the start is tried three times.
        for _ in 0..<2 {
            if let driver = try? await start(executable, on: desktop) { return driver }
        }
        return try await start(executable, on: desktop)
    }

    private static func start(_ executable: String, on desktop: VirtualDesktop?) async throws -> ChromeDriver {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let log = folder.appendingPathComponent("chromedriver.log")
        let process = try SupervisedProcess(
            executable, ["--port=0"], environment: desktop?.environment, output: log)
        do {
            // "ChromeDriver was started successfully on port 41235."
            let port = try await poll("chromedriver to listen", within: .seconds(60)) {
                let text = try String(contentsOf: log, encoding: .utf8)
                if text.contains("Exiting") { throw WebDriverError.notUnderstood("chromedriver ended: \(text)") }
                return text.firstMatch(of: /on port (\d+)\.\n/)?.output.1
            }
            return ChromeDriver(address: "http://127.0.0.1:\(port)", folder: folder, process: process)
        } catch {
            await process.stop()
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    /// Stops the driver and every process that it started, and deletes the folder.
    func stop() async {
        await process.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func installed(_ variable: String, _ places: [String]) -> String? {
        let asked = ProcessInfo.processInfo.environment[variable].map { [$0] } ?? places
        return asked.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// Polls until there is an answer, or throws after the limit.
func poll<Answer>(
    _ what: String, within limit: Duration, _ answer: () async throws -> Answer?
) async throws -> Answer {
    let deadline = ContinuousClock.now + limit
    while true {
        if let answer = try await answer() { return answer }
        guard ContinuousClock.now < deadline else { throw WebDriverError.timedOut(what) }
        try await Task.sleep(for: .milliseconds(20))
    }
}

import CounterfoilPlatform

/// The user's default browser.
///
/// RFC 8252 §6 and appendix B. The launcher tries the commands in `$BROWSER` in order, and then the command of
/// the system. On Linux and other Unix systems this is `xdg-open`, which opens the default browser of the
/// desktop. On macOS it is `open`. On Windows, where `$BROWSER` has no effect, it is the file-protocol handler of the
/// shell. The URL is never split into several arguments.
public struct SystemBrowser: BrowserLauncher {
    private let environment: [String: String]

    /// Creates a launcher with the environment variables of this process.
    public init() { self.init(environment: ProcessInfo.processInfo.environment) }

    /// Creates a launcher with other environment variables.
    ///
    /// The launcher uses `BROWSER`, `PATH` and the variables that ``isOutOfReach`` reads. It passes all variables to
    /// the command that opens the browser.
    public init(environment: [String: String]) { self.environment = environment }

    /// Whether the user is probably at another device and cannot see a browser on this device.
    ///
    /// It is true in an SSH session (`SSH_CONNECTION` or `SSH_TTY` is set) if none of `DISPLAY`, `WAYLAND_DISPLAY` and
    /// `BROWSER` is set. In this case, use a ``PasteReceiver`` for the callback.
    public var isOutOfReach: Bool {
        func isSet(_ variable: String) -> Bool { environment[variable]?.isEmpty == false }
        return (isSet("SSH_CONNECTION") || isSet("SSH_TTY")) && !isSet("DISPLAY") && !isSet("WAYLAND_DISPLAY")
            && !isSet("BROWSER")
    }

    /// Tries the commands in `$BROWSER`, then the command of the system, until one starts and reports no failure.
    public func open(_ url: BrowserURL) async -> BrowserLaunch { await open(url.rawValue) }

    /// Opens the local URL, so that the arguments of the command do not contain the URL of the server.
    ///
    /// The local URL works once. If a command fails after it has opened the URL, the next command opens a page that
    /// says so.
    public func open(_ start: LocalStartURL) async -> BrowserLaunch { await open(start.rawValue) }

    private func open(_ url: String) async -> BrowserLaunch {
        var failures: [String] = []
        for command in commands {
            var arguments = command.arguments(for: url)
            let name = arguments.removeFirst()
            guard let program = find(name) else {
                failures.append("\(name) is not installed")
                continue
            }
            switch await BrowserProcess.run(program, arguments: arguments, environment: environment) {
            case .launched, .notAttempted: return .launched
            case .failed(let reason): failures.append("\(name) \(reason)")
            }
        }
        return .failed(failures.isEmpty ? "no browser is configured on this system" : failures.joined(separator: "; "))
    }

    /// The commands in `$BROWSER`, then the command of the system, in the order in which they are tried.
    var commands: [BrowserCommand] {
        #if os(Windows)
            // Its paths contain the separator and the escape character of `$BROWSER`, which is no convention there.
            let chosen: [BrowserCommand] = []
        #else
            let chosen = BrowserCommand.list(parsing: environment["BROWSER"] ?? "")
        #endif
        return chosen + [Self.standard].compactMap { BrowserCommand(parsing: $0) }
    }

    private static var standard: String {
        #if os(macOS)
            "/usr/bin/open %s"
        #elseif os(iOS)
            // An app cannot start another program. `WebAuthenticationSessionReceiver` opens the page.
            ""
        #elseif os(Windows)
            // This command opens the default browser with ShellExecute. `start` of `cmd.exe` is not used, because
            // `cmd.exe` would interpret an `&` in the URL.
            "rundll32.exe url.dll,FileProtocolHandler %s"
        #else
            "xdg-open %s"
        #endif
    }

    /// Finds the file of a program: a path is used as it is, a name is looked up in `PATH`.
    private func find(_ name: String) -> URL? {
        #if os(Windows)
            let separator: Character = ";"
        #else
            let separator: Character = ":"
        #endif
        if name.contains("/") {
            return FileManager.default.isExecutableFile(atPath: name) ? URL(fileURLWithPath: name) : nil
        }
        let path = environment["PATH"] ?? environment["Path"] ?? ""
        return path.split(separator: separator)
            .map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

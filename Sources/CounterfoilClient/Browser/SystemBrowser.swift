import Foundation

/// The user's default browser.
///
/// RFC 8252 §6 and appendix B. On Linux and other Unix systems, it tries the entries of `$BROWSER` in order and
/// then `xdg-open`, which opens the default browser of the desktop. On macOS it runs `open`, and on Windows the
/// file-protocol handler of the shell. The URL is always a single argument.
public struct SystemBrowser: BrowserLauncher {
    private let environment: [String: String]

    /// Creates the browser of this process's environment.
    public init() { self.init(environment: ProcessInfo.processInfo.environment) }

    /// Creates the browser of another environment.
    ///
    /// Only `BROWSER`, `PATH`, and the variables of ``isOutOfReach`` matter.
    public init(environment: [String: String]) { self.environment = environment }

    /// Whether the user is probably at another device, where a browser on this one cannot be seen.
    ///
    /// True in an SSH session without a display and without `$BROWSER`. A ``PasteReceiver`` takes the response
    /// then.
    public var isOutOfReach: Bool {
        func isSet(_ variable: String) -> Bool { environment[variable]?.isEmpty == false }
        return (isSet("SSH_CONNECTION") || isSet("SSH_TTY")) && !isSet("DISPLAY") && !isSet("WAYLAND_DISPLAY")
            && !isSet("BROWSER")
    }

    /// Tries the commands in order until one starts and reports no failure.
    public func open(_ url: BrowserURL) async -> BrowserLaunch {
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

    /// The commands, in the order in which they are tried.
    var commands: [BrowserCommand] {
        let chosen = BrowserCommand.list(parsing: environment["BROWSER"] ?? "")
        return chosen + [Self.standard].compactMap { BrowserCommand(parsing: $0) }
    }

    private static var standard: String {
        #if os(macOS)
            "/usr/bin/open %s"
        #elseif os(Windows)
            // This runs ShellExecute with the default browser. `cmd.exe` would interpret & in the URL.
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

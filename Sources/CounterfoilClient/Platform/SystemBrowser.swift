import Foundation

/// The browser that the person chose for this system.
///
/// RFC 8252 §6 and appendix B. Linux and other Unix: the entries of `$BROWSER` in order, then `xdg-open`, which honours the
/// desktop's default. macOS: `open`. Windows: the shell's file-protocol handler. The address is always one argument.
public struct SystemBrowser: BrowserLauncher {
    private let environment: [String: String]

    /// The browser of this process's environment.
    public init() { self.init(environment: ProcessInfo.processInfo.environment) }

    /// The browser of another environment, of which `BROWSER` and `PATH` count.
    public init(environment: [String: String]) { self.environment = environment }

    /// Whether the person probably sits at another device, so that a browser here would open before nobody.
    ///
    /// A shell over SSH without a screen, and no browser chosen for it. A ``PasteReceiver`` takes the answer then.
    public var isOutOfReach: Bool {
        func isSet(_ variable: String) -> Bool { environment[variable]?.isEmpty == false }
        return (isSet("SSH_CONNECTION") || isSet("SSH_TTY")) && !isSet("DISPLAY") && !isSet("WAYLAND_DISPLAY")
            && !isSet("BROWSER")
    }

    /// Tries the commands in order until one of them could be started and did not report a failure.
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
        return .failed(failures.isEmpty ? "this system names no browser" : failures.joined(separator: "; "))
    }

    /// What is tried, in order.
    var commands: [BrowserCommand] {
        let chosen = BrowserCommand.list(parsing: environment["BROWSER"] ?? "")
        return chosen + [Self.standard].compactMap { BrowserCommand(parsing: $0) }
    }

    private static var standard: String {
        #if os(macOS)
            "/usr/bin/open %s"
        #elseif os(Windows)
            // ShellExecute of the default browser without cmd.exe, which would read & in the address as its own.
            "rundll32.exe url.dll,FileProtocolHandler %s"
        #else
            "xdg-open %s"
        #endif
    }

    /// The file of a program: a path as it is, a name by `PATH`.
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

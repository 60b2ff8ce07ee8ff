@_spi(Counterfoil) import CounterfoilClient
import CounterfoilPlatform

/// The clipboard of the device in front of the user; it is written and never read.
///
/// The text reaches a program on its standard input, because other users can read the arguments of a process.
struct Clipboard: Sendable {
    /// The result of an attempt to copy a text.
    enum Outcome: Sendable, CustomStringConvertible {
        case copied
        /// The terminal received the text, and does not say what it did with it.
        case passedToTerminal
        case unavailable

        var description: String {
            switch self {
            case .copied: "The code was copied to the clipboard."
            case .passedToTerminal: "The terminal was asked to copy the code to the clipboard (OSC 52)."
            case .unavailable:
                "The code was not copied: there is no terminal, and none of wl-copy, xclip and pbcopy works here."
            }
        }
    }

    /// The time for which a program is awaited; one that serves the clipboard continues in the background.
    private static let limit = Duration.seconds(5)

    private let environment: [String: String]
    private let terminal: ErrorTerminal?

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
        terminal = ErrorTerminal(environment: environment)
    }

    /// Copies a short text, such as a user code, by a program of the desktop or else by the terminal.
    func copy(_ text: String) async -> Outcome {
        for command in commands {
            guard let path = find(command[0]) else { continue }
            if await run(path, Array(command.dropFirst()), input: Array(text.utf8)) { return .copied }
        }
        guard terminal?.obeysSequences == true else { return .unavailable }
        // OSC 52 of xterm; `c` is the clipboard. Over SSH, the terminal is at the device in front of the user.
        StandardStreams.writeError(Array("\u{1B}]52;c;\(Data(text.utf8).base64EncodedString())\u{7}".utf8))
        return .passedToTerminal
    }

    /// The programs that can reach a clipboard of the user.
    private var commands: [[String]] {
        func isSet(_ variable: String) -> Bool { environment[variable]?.isEmpty == false }
        #if os(macOS)
            // Over SSH, the clipboard of this Mac is not the user's.
            return isSet("SSH_CONNECTION") ? [] : [["pbcopy"]]
        #else
            return (isSet("WAYLAND_DISPLAY") ? [["wl-copy"]] : [])
                + (isSet("DISPLAY") ? [["xclip", "-selection", "clipboard"]] : [])
        #endif
    }

    private func find(_ name: String) -> String? {
        (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first { $0.hasPrefix("/") && access($0, X_OK) == 0 }
    }

    /// Runs a program and returns whether it succeeded in time.
    private func run(_ path: String, _ arguments: [String], input: [UInt8]) async -> Bool {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A pipe holds at least 4096 bytes, so a text that is shorter is written before the program starts.
        let isWritten = input.count <= 4096 && write(ends[1], input, input.count) == input.count
        close(ends[1])
        defer { close(ends[0]) }
        guard isWritten,
            let process = try? ChildProcess(
                path: path, arguments: arguments, environment: environment, standardInput: ends[0])
        else { return false }
        return await withTaskGroup(of: Int32?.self) { group in
            group.addTask { await process.exitStatus }
            group.addTask {
                try? await Task.sleep(for: Self.limit)
                return nil
            }
            let status = await group.next() ?? nil
            group.cancelAll()
            return status == 0
        }
    }
}

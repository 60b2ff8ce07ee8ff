@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// A child process in its own process group that ends with this process at the latest.
///
/// A shell in between reads from a pipe that only this process holds. When ``stop()`` or the death of this
/// process closes the pipe, the shell kills the whole group.
final class SupervisedProcess: Sendable {
    private static let guardian = """
        set -m
        "$0" "$@" </dev/null &
        child=$!
        read -r _
        kill -KILL -- "-$child" 2>/dev/null
        wait "$child" 2>/dev/null
        """

    private let lifeline: Mutex<FileHandle?>
    private let ended: AsyncStream<Void>

    /// Starts a program that writes its output to a file; without an environment it inherits that of this
    /// process.
    init(
        _ executable: String, _ arguments: [String], environment: [String: String]? = nil, output: URL
    ) throws {
        try Data().write(to: output)
        let log = try FileHandle(forWritingTo: output)
        let input = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.guardian, executable] + arguments
        if let environment { process.environment = environment }
        process.standardInput = input
        process.standardOutput = log
        process.standardError = log
        let (ended, end) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        try log.close()
        self.ended = ended
        lifeline = Mutex(input.fileHandleForWriting)
    }

    /// Stops the program and every process that it started, and waits for its end.
    func stop() async {
        let handle = lifeline.withLock { handle in
            defer { handle = nil }
            return handle
        }
        try? handle?.close()
        for await _ in ended {}
    }
}

@_spi(Counterfoil) import CounterfoilProtocol
package import Foundation

/// A program in its own process that ends with this process at the latest.
///
/// A shell in between holds the read end of a pipe. When ``stop()`` or the death of this process closes the
/// write end, the shell stops the program.
package final class RunningProgram: Sendable {
    private static let guardian = """
        exec 3<&0
        input=$1; output=$2; shift 2
        if [ -n "$LISTEN_FDS" ]; then
            sh -c 'LISTEN_PID=$$; export LISTEN_PID; exec "$@"' sh "$@" <"$input" 3<&1 >"$output" &
        else
            "$@" <"$input" 3<&- &
        fi
        program=$!
        {
            while read -r signal <&3; do kill -"$signal" "$program"; done
            kill -TERM "$program"
            for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -0 "$program" || exit; done
            kill -KILL "$program"
        } >/dev/null 2>&1 &
        watcher=$!
        exec 3<&-
        wait "$program"
        status=$?
        kill "$watcher"
        exit "$status"
        """

    private let name: String
    private let folder: TemporaryDirectory
    private let lifeline: Mutex<FileHandle?>
    private let exitCode: ExitCode

    /// The exit code, or nil while the program runs.
    private final class ExitCode: Sendable {
        let value = Mutex<Int32?>(nil)
    }

    /// Starts a program of this package.
    ///
    /// - Parameters:
    ///   - environment: The environment, in addition to `PATH`.
    ///   - input: The standard input.
    ///   - socket: A listening socket that the program gets as systemd passes one (`LISTEN_FDS`); the environment can
    ///     name it (`LISTEN_FDNAMES`).
    ///   - fileSizeLimit: The maximum size of a file in bytes; larger writes fail, as on a full disk.
    ///   - descriptorLimit: The maximum number of open files, as a hard limit.
    ///   - softDescriptorLimit: The maximum number of open files, as a soft limit that the program can
    ///     raise.
    package convenience init(
        _ product: Product,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String? = nil,
        passing socket: FileHandle? = nil,
        fileSizeLimit: Int? = nil,
        descriptorLimit: Int? = nil,
        softDescriptorLimit: Int? = nil,
        in parent: TemporaryDirectory
    ) throws {
        try self.init(
            at: try product.executable.path, arguments, environment: environment, input: input, passing: socket,
            fileSizeLimit: fileSizeLimit, descriptorLimit: descriptorLimit, softDescriptorLimit: softDescriptorLimit,
            in: parent)
    }

    /// Starts the program at a path, with the same parameters.
    package init(
        at executable: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil,
        passing socket: FileHandle? = nil, fileSizeLimit: Int? = nil, descriptorLimit: Int? = nil,
        softDescriptorLimit: Int? = nil,
        in parent: TemporaryDirectory
    ) throws {
        name = ([URL(fileURLWithPath: executable).lastPathComponent] + arguments.prefix(2)).joined(separator: " ")
        folder = try parent.makeFolder("program")
        var inputPath = "/dev/null"
        if let input {
            inputPath = folder.path("input")
            try Data(input.utf8).write(to: URL(fileURLWithPath: inputPath))
        }
        // The shell counts in blocks of 512 bytes, and without the trap the signal XFSZ would end the
        // program.
        let limit =
            (fileSizeLimit.map { "trap '' XFSZ; ulimit -f \($0 / 512)\n" } ?? "")
            + (descriptorLimit.map { "ulimit -n \($0)\n" } ?? "")
            + (softDescriptorLimit.map { "ulimit -S -n \($0)\n" } ?? "")
        let pipe = Pipe()
        let exitCode = ExitCode()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            ["-c", limit + Self.guardian, "sh", inputPath, folder.path("output"), executable]
            + arguments
        var inherited = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
        if socket != nil { inherited["LISTEN_FDS"] = "1" }
        process.environment = environment.merging(inherited) { own, _ in own }
        process.standardInput = pipe
        let files = try (output: Self.makeFile(folder.path("output")), errors: Self.makeFile(folder.path("errors")))
        // A process passes no other descriptors than the first three to its child.
        process.standardOutput = socket ?? files.output
        process.standardError = files.errors
        process.terminationHandler = { process in exitCode.value.withLock { $0 = process.terminationStatus } }
        // The program has its own descriptors; without this, each running program would keep two more files
        // open here.
        defer { for file in [files.output, files.errors] { try? file.close() } }
        try Self.withAllSignals { try process.run() }
        self.exitCode = exitCode
        lifeline = Mutex(pipe.fileHandleForWriting)
    }

    /// The standard output so far.
    package var output: String { contents("output") }

    /// The standard error so far.
    package var errors: String { contents("errors") }

    /// The complete lines of standard error so far, as events in JSON; throws if a line is something else.
    package var logEvents: [[String: String]] {
        get throws {
            try errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { line in
                try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
            }
        }
    }

    /// Waits until `read` finds something in the output; throws if the program exits without it.
    package func said<Answer>(_ what: String, _ read: (RunningProgram) throws -> Answer?) async throws -> Answer {
        try await Waiting.until("\(name): \(what)") {
            let isOver = exitCode.value.withLock { $0 != nil }
            if let answer = try read(self) { return answer }
            guard !isOver else { throw Waiting.InVain(description: "\(name) ended without \(what): \(errors)") }
            return nil
        }
    }

    /// Waits until the program exits.
    package func ended(within limit: Duration = .seconds(60)) async throws -> EndedProgram {
        do {
            return try await end(within: limit)
        } catch {
            await stop()
            throw error
        }
    }

    /// Sends a signal to the program, by its name without SIG.
    package func signal(_ name: String) throws {
        try lifeline.withLock { handle in try handle?.write(contentsOf: Data("\(name)\n".utf8)) }
    }

    /// Stops the program with SIGTERM, as an operator does, and waits until it exits.
    @discardableResult package func stop() async -> EndedProgram? {
        closeLifeline()
        return try? await Task.detached { try await self.end(within: .seconds(20)) }.value
    }

    /// Runs `body` and then stops the program, also if `body` throws.
    package func whileRunning<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            await stop()
            return result
        } catch {
            await stop()
            throw error
        }
    }

    private func closeLifeline() {
        let handle = lifeline.withLock { handle in
            defer { handle = nil }
            return handle
        }
        try? handle?.close()
    }

    private func end(within limit: Duration) async throws -> EndedProgram {
        let status = try await Waiting.until("the end of \(name)", within: limit) { exitCode.value.withLock { $0 } }
        // Foundation keeps a process and its pipes. With some 1,300 open descriptors, it fails to start another one.
        closeLifeline()
        return EndedProgram(status: status, output: output, errors: errors)
    }

    private func contents(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: folder.path(name)) ?? Data(), as: UTF8.self)
    }

    /// Runs `body` with no signal blocked.
    ///
    /// A program inherits the signal mask of the thread that starts it, and task threads block almost every
    /// signal.
    private static func withAllSignals(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var former = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        try body()
    }

    private static func makeFile(_ path: String) throws -> FileHandle {
        try Data().write(to: URL(fileURLWithPath: path))
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }
}

/// The exit code and the output of a program.
package struct EndedProgram: Sendable {
    /// The exit code, or 128 plus the signal number if a signal ended the program.
    package let status: Int32
    /// The complete standard output.
    package let output: String
    /// The complete standard error.
    package let errors: String
}

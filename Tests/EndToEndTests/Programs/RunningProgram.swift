import Foundation
import Synchronization

/// A program that runs in a process of its own and cannot outlive this one.
///
/// A shell in between holds the reading end of a pipe whose other end is here: when it closes, because ``stop()`` was
/// called or because this process died, the shell ends the program.
final class RunningProgram: Sendable {
    private static let guardian = """
        exec 3<&0
        input=$1; shift
        "$@" <"$input" 3<&- &
        program=$!
        {
            read -r _ <&3
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
    private let folder: TemporaryFolder
    private let lifeline: Mutex<FileHandle?>
    private let exitCode: ExitCode

    /// The exit code, once there is one.
    private final class ExitCode: Sendable {
        let value = Mutex<Int32?>(nil)
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - environment: What it finds in its environment, beside `PATH`.
    ///   - input: What it reads on standard input.
    ///   - fileSizeLimit: The most bytes that a file may have; to write more fails, as on a disk that is full.
    ///   - descriptorLimit: The number of files that it may open, which it cannot raise.
    ///   - softDescriptorLimit: The number of files that it may open, which it can raise.
    init(
        _ product: Product,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String? = nil,
        fileSizeLimit: Int? = nil,
        descriptorLimit: Int? = nil,
        softDescriptorLimit: Int? = nil,
        in parent: TemporaryFolder
    ) throws {
        name = ([product.rawValue] + arguments.prefix(2)).joined(separator: " ")
        folder = try parent.makeFolder("program")
        var inputPath = "/dev/null"
        if let input {
            inputPath = folder.path("input")
            try Data(input.utf8).write(to: URL(fileURLWithPath: inputPath))
        }
        // The shell counts in blocks of 512 bytes; without the trap a signal would end the program.
        let limit =
            (fileSizeLimit.map { "trap '' XFSZ; ulimit -f \($0 / 512)\n" } ?? "")
            + (descriptorLimit.map { "ulimit -n \($0)\n" } ?? "")
            + (softDescriptorLimit.map { "ulimit -S -n \($0)\n" } ?? "")
        let pipe = Pipe()
        let exitCode = ExitCode()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", limit + Self.guardian, "sh", inputPath, try product.executable.path] + arguments
        process.environment = environment.merging(["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]) {
            own, _ in
            own
        }
        process.standardInput = pipe
        let files = try (output: Self.makeFile(folder.path("output")), errors: Self.makeFile(folder.path("errors")))
        process.standardOutput = files.output
        process.standardError = files.errors
        process.terminationHandler = { process in exitCode.value.withLock { $0 = process.terminationStatus } }
        // The program has its own; every program of every test would keep two more files open here.
        defer { for file in [files.output, files.errors] { try? file.close() } }
        try Self.withAllSignals { try process.run() }
        self.exitCode = exitCode
        lifeline = Mutex(pipe.fileHandleForWriting)
    }

    /// What stands on standard output by now.
    var output: String { contents("output") }

    /// What stands on standard error by now.
    var errors: String { contents("errors") }

    /// Waits until something can be read from what the program says; throws when it ends without having said it.
    func said<Answer>(_ what: String, _ read: (RunningProgram) throws -> Answer?) async throws -> Answer {
        try await Waiting.until("\(name): \(what)") {
            let isOver = exitCode.value.withLock { $0 != nil }
            if let answer = try read(self) { return answer }
            guard !isOver else { throw Waiting.InVain(description: "\(name) ended without \(what): \(errors)") }
            return nil
        }
    }

    /// Waits until the program has ended by itself.
    func ended(within limit: Duration = .seconds(60)) async throws -> EndedProgram {
        do {
            return try await end(within: limit)
        } catch {
            await stop()
            throw error
        }
    }

    /// Asks the program to end, as an operator does with SIGTERM, and waits until it has.
    @discardableResult func stop() async -> EndedProgram? {
        let handle = lifeline.withLock { handle in
            defer { handle = nil }
            return handle
        }
        try? handle?.close()
        return try? await Task.detached { try await self.end(within: .seconds(20)) }.value
    }

    /// Stops the program after `body`, however that ends.
    func whileRunning<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            await stop()
            return result
        } catch {
            await stop()
            throw error
        }
    }

    private func end(within limit: Duration) async throws -> EndedProgram {
        let status = try await Waiting.until("the end of \(name)", within: limit) { exitCode.value.withLock { $0 } }
        return EndedProgram(status: status, output: output, errors: errors)
    }

    private func contents(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: folder.path(name)) ?? Data(), as: UTF8.self)
    }

    /// Runs `body` with no signal blocked: a program inherits what the thread that starts it blocks, and the threads of
    /// tasks block nearly everything.
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

/// How a program ended, and what it said.
struct EndedProgram: Sendable {
    /// The exit code; 128 and the number of the signal when a signal ended it.
    let status: Int32
    /// Everything on standard output.
    let output: String
    /// Everything on standard error.
    let errors: String
}

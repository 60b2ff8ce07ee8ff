@_spi(Counterfoil) import CounterfoilClient
import Foundation
import TestSupport

/// Commands of the user's shell, and other programs that a test runs.
enum Shell {
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs a command with `/bin/sh`.
    static func run(
        _ command: String, environment: [String: String] = [:], input: Int32? = nil
    ) async throws -> Outcome {
        try await run("/bin/sh", ["-c", command], environment: environment, input: input)
    }

    /// Runs a program.
    static func run(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], input: Int32? = nil,
        onLine: @escaping @Sendable (String) -> Void = { _ in }, started: @Sendable (ChildProcess) -> Void = { _ in }
    ) async throws -> Outcome {
        let (output, errors) = (try OutputPipe(), try OutputPipe())
        let process = try ChildProcess(
            path: path, arguments: arguments, environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 },
            standardInput: input, standardOutput: output.writingEnd, standardError: errors.writingEnd)
        started(process)
        async let written = output.text()
        async let told = errors.text(onLine: onLine)
        let status = await process.exitStatus ?? -1
        return Outcome(status: status, output: await written, errors: await told)
    }

    /// Returns the path of an installed program; nil if `PATH` contains none.
    static func program(_ name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Writes an executable script and returns its path.
    static func script(_ name: String, _ text: String, in directory: TemporaryDirectory) throws -> String {
        let path = directory.path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return path
    }
}

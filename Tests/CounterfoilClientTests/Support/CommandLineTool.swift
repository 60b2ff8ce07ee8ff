import CounterfoilClient
import Foundation
import Testing

/// The built program `counterfoil`, run as a user or a script runs it.
struct CommandLineTool {
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Finds the executable beside the one that runs the tests.
    static func executable() throws -> URL {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let candidates = [tests, folder].map { $0.appendingPathComponent("counterfoil") }
        return try #require(
            candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) },
            "build it first: swift build --product counterfoil")
    }

    /// Runs the program with a home directory of its own.
    ///
    /// `onLine` receives each line of standard error as it is written, and `started` the process.
    static func run(
        _ arguments: [String],
        home: URL,
        environment: [String: String] = [:],
        input: Int32? = nil,
        onLine: @escaping @Sendable (String) -> Void = { _ in },
        started: @Sendable (ChildProcess) -> Void = { _ in }
    ) async throws -> Outcome {
        let (output, errors) = (try OutputPipe(), try OutputPipe())
        let process = try ChildProcess(
            path: try executable().path, arguments: arguments,
            environment: ["HOME": home.path, "PATH": "/usr/bin:/bin", "COLUMNS": "80"].merging(environment) { $1 },
            standardInput: input, standardOutput: output.writingEnd, standardError: errors.writingEnd)
        started(process)
        async let written = output.text()
        async let told = errors.text(onLine: onLine)
        let status = await process.exitStatus ?? -1
        return Outcome(status: status, output: await written, errors: await told)
    }
}

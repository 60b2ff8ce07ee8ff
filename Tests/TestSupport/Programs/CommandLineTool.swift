@_spi(Counterfoil) package import CounterfoilClient
package import Foundation

/// The built program `counterfoil`, or another program of the package, run as a user or a script runs it.
package struct CommandLineTool {
    package struct Outcome {
        package let status: Int32
        package let output: String
        package let errors: String
    }

    /// Runs the program with a home directory of its own.
    ///
    /// `onLine` receives each line of standard error as it is written, `onOutput` that of standard output, and
    /// `started` the process.
    package static func run(
        _ arguments: [String],
        of program: Product = .client,
        home: URL,
        environment: [String: String] = [:],
        input: Int32? = nil,
        onLine: @escaping @Sendable (String) -> Void = { _ in },
        onOutput: @escaping @Sendable (String) -> Void = { _ in },
        started: @Sendable (ChildProcess) -> Void = { _ in }
    ) async throws -> Outcome {
        let (output, errors) = (try OutputPipe(), try OutputPipe())
        let process = try ChildProcess(
            path: try program.executable.path, arguments: arguments,
            environment: ["HOME": home.path, "PATH": "/usr/bin:/bin", "COLUMNS": "80"].merging(environment) { $1 },
            standardInput: input, standardOutput: output.writingEnd, standardError: errors.writingEnd)
        started(process)
        async let written = output.text(onLine: onOutput)
        async let told = errors.text(onLine: onLine)
        let status = await process.exitStatus ?? -1
        return Outcome(status: status, output: await written, errors: await told)
    }
}

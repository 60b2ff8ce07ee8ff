@_spi(Counterfoil) import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport

extension CommandLineTool {
    /// Runs `counterfoil login`; a task follows the printed URL in place of the user.
    static func login(
        _ arguments: [String], client: String? = "lightbox", home: URL, environment: [String: String] = [:],
        input: Int32? = nil,
        visit: @escaping @Sendable (BrowserURL) async throws -> Void = { _ = await ScriptedBrowser().open($0) },
        started: @Sendable (ChildProcess) -> Void = { _ in }
    ) async throws -> Outcome {
        let visits = Mutex<[Task<Void, any Error>]>([])
        let outcome = try await run(
            ["login"] + (arguments.contains("--timeout") ? [] : ["--timeout", "60"])
                + (client.map { ["--client-id", $0] } ?? []) + arguments,
            home: home, environment: environment, input: input,
            onLine: { line in
                guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                visits.withLock { $0.append(Task { try await visit(url) }) }
            }, started: started)
        for visit in visits.withLock({ $0 }) { try await visit.value }
        return outcome
    }

    /// Signs in at a scripted server under a profile, without opening a browser.
    static func signIn(
        at server: ScriptedAuthorizationServer, home: URL, _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await login(
            [server.issuer.rawValue, "--browser", "print"] + arguments, home: home, environment: environment)
    }

    /// Runs the program with standard output on a file, a device or a terminal.
    static func run(
        _ arguments: [String], home: URL, environment: [String: String] = [:], input: Int32? = nil,
        output: FileHandle, onLine: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> (status: Int32, errors: String) {
        let errors = try OutputPipe()
        let process = try ChildProcess(
            path: try Product.client.executable.path, arguments: arguments,
            environment: ["HOME": home.path, "PATH": "/usr/bin:/bin", "COLUMNS": "80"].merging(environment) { $1 },
            standardInput: input, standardOutput: output.fileDescriptor, standardError: errors.writingEnd)
        async let told = errors.text(onLine: onLine)
        let status = await process.exitStatus ?? -1
        return (status, await told)
    }
}

import Foundation
import PostgreSQLTesting
import TestSupport

@testable import PostgreSQLDriver

/// PgBouncer before a server, which ends with this process at the latest.
final class PgBouncer: Sendable {
    let port: ReservedPort
    private let directory: TemporaryDirectory
    private let lifeline: FileHandle
    private let process: Process

    static var program: String? {
        ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"]
            .first(where: FileManager.default.isExecutableFile(atPath:))
    }

    /// Starts PgBouncer with a pool mode, and waits until it answers.
    init(before server: PostgreSQLServer, mode: String, _ options: String...) async throws {
        guard let program = Self.program else {
            throw PostgreSQLServer.Failure(description: "PgBouncer is not installed")
        }
        port = try ReservedPort()
        directory = try TemporaryDirectory()
        chmod(directory.url.path, 0o755)
        let configuration = """
            [databases]
            * = host=127.0.0.1 port=\(server.port.number)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port.number)
            unix_socket_dir =
            auth_type = trust
            auth_file = \(directory.path("users"))
            pool_mode = \(mode)
            \(options.joined(separator: "\n"))
            """
        try Data(configuration.utf8).write(to: directory.file("pgbouncer.ini"))
        try Data(#""counterfoil" """#.utf8).write(to: directory.file("users"))
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let command = Unprivileged.command(program, [directory.path("pgbouncer.ini")])
        process.arguments =
            ["-c", #""$@" </dev/null & program=$!; read -r _; kill -INT "$program"; wait "$program""#, "sh"] + command
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let process = process
        try Unprivileged.withAllSignals { try process.run() }
        lifeline = pipe.fileHandleForWriting
        let string = try server.connectionURI(port: port.number)
        _ = try await Waiting.until("an answer of PgBouncer") { try? Connection.open(string) }
    }

    func stop() async throws {
        try lifeline.close()
        _ = try await Waiting.until("the end of PgBouncer") { process.isRunning ? nil : true }
    }
}

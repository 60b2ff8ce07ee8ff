package import CounterfoilPostgreSQL
@_spi(Counterfoil) import CounterfoilProtocol
package import Foundation
package import TestSupport

/// A PostgreSQL server in a temporary directory, which ends with this process at the latest.
///
/// A shell holds the read end of a pipe. When ``stop()`` or the death of this process closes the write end, the shell
/// stops the server at once, as a crash does. PostgreSQL refuses to run as root, so root starts it as another user.
package final class PostgreSQLServer: Sendable {
    /// The server that most tests share.
    package static let shared = Task { try await PostgreSQLServer.start() }

    private static let guardian = """
        folder=$1; shift
        "$@" </dev/null >>"$folder/log" 2>&1 &
        program=$!
        read -r _
        kill -QUIT "$program"
        wait "$program"
        [ -e "$folder/stays" ] || rm -rf "${folder%/*}"
        """

    package let port: ReservedPort
    private let directory: TemporaryDirectory
    private let folder: URL
    private let options: [String]
    private let running = Mutex<Running?>(nil)

    private struct Running: Sendable {
        let lifeline: FileHandle
        let process: Process
    }

    /// An error of a program that prepares or is a server.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Prepares a server with an empty database, or with a copy of a running one.
    private init(options: [String], copyOf original: PostgreSQLServer? = nil) throws {
        port = try ReservedPort()
        directory = try TemporaryDirectory()
        self.options = options
        // The server has another user than this process if that is root.
        chmod(directory.url.path, 0o711)
        folder = directory.file("pg")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        Unprivileged.own(folder)
        if let original {
            try Unprivileged.run(
                Self.program("pg_basebackup"),
                [
                    "--pgdata", path("data"), "--host", "127.0.0.1", "--port", "\(original.port.number)", "--username",
                    "counterfoil", "--checkpoint", "fast", "--write-recovery-conf", "--no-sync",
                ])
            return
        }
        try Unprivileged.run(
            Self.program("initdb"),
            [
                "--pgdata", path("data"), "--username", "counterfoil", "--auth", "trust", "--encoding", "UTF8",
                "--locale", "C", "--no-sync", "--no-instructions",
            ])
        let access = """
            local all all trust
            host all with_password,with_other_password 127.0.0.1/32 scram-sha-256
            host all all 127.0.0.1/32 trust
            host replication all 127.0.0.1/32 trust

            """
        try Data(access.utf8).write(to: folder.appendingPathComponent("data/pg_hba.conf"))
    }

    /// Creates a server and starts it; `options` are settings as `name=value`.
    package static func start(_ options: String...) async throws -> PostgreSQLServer {
        let server = try PostgreSQLServer(options: options)
        try await server.start()
        return server
    }

    /// Creates a standby of this server, and starts it.
    package func startStandby() async throws -> PostgreSQLServer {
        let standby = try PostgreSQLServer(options: options, copyOf: self)
        try await standby.start()
        return standby
    }

    /// Promotes a standby to a primary.
    package func promote() throws {
        try Unprivileged.run(Self.program("pg_ctl"), ["promote", "--pgdata", path("data")])
    }

    /// Starts the server again, and waits until it answers.
    package func start() async throws {
        try? FileManager.default.removeItem(at: folder.appendingPathComponent("stays"))
        let settings =
            [
                "port=\(port.number)", "listen_addresses=127.0.0.1", "unix_socket_directories=\(folder.path)",
                "fsync=off", "max_connections=50", "log_statement=all", "log_parameter_max_length=0",
                "shared_buffers=16MB",
            ] + options
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let command = Unprivileged.command(
            try Self.program("postgres"), ["-D", path("data")] + settings.flatMap { ["-c", $0] })
        process.arguments = ["-c", Self.guardian, "sh", folder.path] + command
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try Unprivileged.withAllSignals { try process.run() }
        running.withLock { $0 = Running(lifeline: pipe.fileHandleForWriting, process: process) }
        _ = try await Waiting.until("an answer of the server; its log: \(log.suffix(2000))") {
            (try? sql("SELECT 1")) == ["1"] ? true : nil
        }
    }

    /// Stops the server at once, as a crash does, and waits until it has ended.
    package func stop() async throws {
        let stopped = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let stopped else { return }
        try Data().write(to: folder.appendingPathComponent("stays"))
        try stopped.lifeline.close()
        _ = try await Waiting.until("the end of the server") { stopped.process.isRunning ? nil : true }
    }

    /// Everything that the server has logged, with each statement.
    package var log: String {
        String(decoding: FileManager.default.contents(atPath: path("log")) ?? Data(), as: UTF8.self)
    }

    /// The connection string of this server over TCP.
    package func uri(
        user: String = "counterfoil", database: String = "postgres", port: Int? = nil, _ options: String...
    ) throws -> ConnectionString {
        try ConnectionString(address(user: user, database: database, port: port, options))
    }

    /// The text of a connection string of this server over TCP.
    package func address(user: String, database: String, port: Int?, _ options: [String]) -> String {
        let options = options.isEmpty ? "" : "?" + options.joined(separator: "&")
        return "postgresql://\(user)@127.0.0.1:\(port ?? self.port.number)/\(database)\(options)"
    }

    /// The text of a connection string of this server over its Unix socket.
    package var socketAddress: String {
        let host = folder.path.replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://counterfoil@\(host):\(port.number)/postgres"
    }

    /// Runs each statement on a connection of its own, and returns the rows of the last one; a column that is null is
    /// an empty text, and several columns are separated by `|`.
    @discardableResult
    package func sql(_ statements: String..., database: String = "postgres") throws -> [String] {
        var rows: [String] = []
        for statement in statements {
            let output = try Unprivileged.run(
                Self.program("psql"),
                [
                    "--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--set", "ON_ERROR_STOP=1", "--host",
                    "127.0.0.1", "--port", "\(port.number)", "--username", "counterfoil", "--dbname", database,
                    "--command", statement,
                ])
            rows = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        }
        return rows
    }

    package func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Finds a program of PostgreSQL, of the newest version that is installed.
    package static func program(_ name: String) throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let folders =
            versions.compactMap { Int($0) }.sorted(by: >).map { "\(root)/\($0)/bin" }
            + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let paths = folders.map { "\($0)/\(name)" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw Failure(description: "\(name) of PostgreSQL is not installed; run script/bootstrap")
        }
        return path
    }
}

/// Programs that refuse to run as root.
package enum Unprivileged {
    private static let user = "nobody"

    /// The command that runs a program without the rights of root.
    package static func command(_ program: String, _ arguments: [String]) -> [String] {
        guard geteuid() == 0 else { return [program] + arguments }
        return ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=nogroup", "--clear-groups", program] + arguments
    }

    /// Gives a file or directory to the user of such programs.
    package static func own(_ url: URL) {
        guard geteuid() == 0, let entry = getpwnam(user) else { return }
        chown(url.path, entry.pointee.pw_uid, entry.pointee.pw_gid)
    }

    /// Runs a program, waits for its end, and returns its output.
    @discardableResult
    package static func run(_ program: String, _ arguments: [String]) throws -> String {
        let command = command(program, arguments)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try withAllSignals { try process.run() }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw PostgreSQLServer.Failure(description: String(decoding: text, as: UTF8.self))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Runs `body` with no signal blocked.
    ///
    /// A program inherits the signal mask of the thread that starts it, and task threads block almost every signal. A
    /// shell cannot wait for its child then.
    package static func withAllSignals(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var former = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        try body()
    }
}

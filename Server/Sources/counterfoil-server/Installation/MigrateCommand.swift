import ArgumentParser
import CounterfoilPostgreSQL
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The command `migrate`, which creates or upgrades the tables in a PostgreSQL database, and moves the content of a
/// data directory into it.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create or upgrade the tables of a PostgreSQL database, or move into it.",
        discussion: """
            Run it before the first start of a server on a database, and before a server of a new version. All changes \
            are one transaction. A data directory needs no such command: a server upgrades it when it starts.

            With --from, it also moves everything in a data directory into the database, which must be empty. Stop the \
            server first. Afterwards no server starts on the directory. Use its server key for the database: users then \
            stay signed in.

            With --check, the exit code is 0 if the tables are up to date, and 1 if there is something to do. The \
            server key is needed with --from only.

            Examples:
              counterfoil-server migrate \\
                --database postgresql://counterfoil@db.example.com/counterfoil
              counterfoil-server migrate --from sqlite:/var/lib/counterfoil \\
                --database postgresql://counterfoil@db.example.com/counterfoil \\
                --server-key-file /etc/counterfoil/server.key
            """
    )

    @Flag(name: .long, help: "Only check whether the tables are those of this version.")
    var check = false

    @Option(
        name: .long,
        help: ArgumentHelp("The data directory to move from: sqlite:DIRECTORY.", valueName: "sqlite:directory"))
    var from: String?

    @OptionGroup var location: InstallationOption

    /// The data directory to move from; nil without `--from`.
    private var directory: String? {
        get throws {
            guard let from else { return nil }
            guard from.hasPrefix("sqlite:"), from.count > "sqlite:".count else {
                throw ValidationError("--from takes sqlite: and a data directory, such as sqlite:/var/lib/counterfoil.")
            }
            return String(from.dropFirst("sqlite:".count))
        }
    }

    func validate() throws {
        guard try directory == nil || !check else { throw ValidationError("--from and --check cannot be combined.") }
    }

    func run() async throws {
        let settings = try location.settings()
        // Without a name, the standard data directory would count, and the database would stay as it is.
        guard settings.has(Settings.database) || settings.has(Settings.dataDir) else {
            throw CommandFailure.usage("Name the database with --database or \(Settings.database.variable).")
        }
        let database: Database
        switch try settings.storeLocation {
        case .directory(let path):
            guard from == nil else { throw CommandFailure.usage("--from requires --database.") }
            return Output.note("There is nothing to do: a server upgrades its data directory \(path) when it starts.")
        case .database(let named): database = named
        }
        guard !check else { return try await report(on: database) }
        guard let directory = try directory else { return try await migrate(database) }
        let serverKey = try database.serverKey()
        let lock = try DataDirectory.lock(existing: directory, orRefuse: "a server runs on \(directory); stop it first")
        defer { withExtendedLifetime(lock) {} }
        let origin = try await DataDirectory(at: directory, creating: false, lockedBy: lock, serverKey: serverKey)
        DataDirectory.report(origin.store)
        do {
            try await move(origin, with: serverKey, into: database)
            await origin.store.close()
        } catch {
            await origin.store.close()
            throw error
        }
    }

    /// Reports whether there is something to do.
    private func report(on database: Database) async throws {
        do {
            try await PostgreSQLStore.check(database.string)
            Output.note("The tables in \(database.string) are up to date.")
        } catch {
            switch error {
            case .noTables, .earlierTables: throw CommandFailure.found("\(error)")
            default: throw CommandFailure(error)
            }
        }
    }

    private func migrate(_ database: Database) async throws {
        do {
            let steps = try await PostgreSQLStore.migrate(database.string)
            Output.note(
                steps == 0
                    ? "The tables in \(database.string) were up to date."
                    : "The tables in \(database.string) are now those of this version.")
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Throws unless a server key opens everything that the server of a directory has sealed and signed.
    private func check(_ serverKey: ServerKey, of origin: DataDirectory) async throws {
        let refusal = CommandFailure.refused(
            "the server key is not that of \(origin.path); use its server.key, so that users stay signed in")
        if let own = try origin.ownServerKey, !serverKey.includes(own) { throw refusal }
        do { try await KeyRing.check(origin.store, serverKey: serverKey) } catch { throw refusal }
    }

    private func move(_ origin: DataDirectory, with serverKey: ServerKey, into database: Database) async throws {
        try await check(serverKey, of: origin)
        // Tables of an earlier version belong to a database in use.
        do { try await PostgreSQLStore.check(database.string) } catch .noTables {
            try await migrate(database)
        } catch {
            throw CommandFailure(error)
        }
        // Until now, the server of the directory may have used its key.
        var recorded = origin.installation.recorded
        recorded.serverKeyUses.note(
            origin.installation.serverKey.fingerprints, at: origin.store.now(), isAlone: true)
        let progress = MoveReport()
        do {
            let outcome = try await PostgreSQLStore.move(
                origin.store, into: database.string, settings: recorded.named,
                reporting: progress.show)
            progress.end()
            let start = "Start the servers with --database, and keep \(origin.path) as a backup only."
            switch outcome {
            case .moved(let rows):
                Output.note("Moved \(rows) rows from \(origin.path) to \(database.string), and compared them. \(start)")
            case .wasMoved(let rows):
                Output.note(
                    "The \(rows) rows of \(origin.path) were already in \(database.string), and are equal. \(start)")
            }
        } catch {
            progress.end()
            throw CommandFailure(moving: error)
        }
    }
}

/// The progress of a move on standard error: on a terminal as one line that changes.
private final class MoveReport: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    /// The time of the last line, and whether a line is open.
    private let state = Mutex((at: ContinuousClock.now - .seconds(60), isOpen: false))

    /// The shortest time between two lines.
    private var pause: Duration { isTerminal ? .milliseconds(100) : .seconds(10) }

    @Sendable func show(_ progress: MoveProgress) {
        let isDue = state.withLock { state in
            guard state.at.duration(to: .now) >= pause || progress.done == progress.total else { return false }
            state = (.now, isTerminal)
            return true
        }
        guard isDue else { return }
        let percent = progress.total == 0 ? 100 : progress.done * 100 / progress.total
        let verb = progress.isComparing ? "Comparing" : "Copying"
        let text = "\(verb): \(percent)% (\(progress.done) of \(progress.total) rows; \(progress.table))"
        guard isTerminal else { return Output.note(text) }
        let filled = percent / 5
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: 20 - filled)
        Output.prompt("\r\u{1B}[K[\(bar)] \(text)")
    }

    /// Ends the line that is open.
    func end() {
        let isOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if isOpen { Output.note("") }
    }
}

extension CommandFailure {
    /// Creates a failure from an error of a move, after which the store stays as it was.
    fileprivate init(moving error: any Error) {
        switch error {
        case let refusal as OpeningRefusal: self.init(refusal)
        case let fault as StoreFault: self.init(fault)
        case let refusal as MoveRefusal: self = .refused("\(refusal)")
        default: self = .temporary("the move failed: \(error); the directory stays as it was; repeat the move")
        }
    }
}

import ArgumentParser
import CounterfoilPostgreSQL
import Foundation

/// The command `migrate`, which creates or upgrades the tables in a PostgreSQL database.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create or upgrade the tables in a PostgreSQL database.",
        discussion: """
            Run it before the first start of a server on a database, and before a server of a new version. All changes \
            are one transaction. A data directory needs no such command: a server upgrades it when it starts.

            Example:
              counterfoil-server migrate \\
                --database postgresql://counterfoil@db.example.com/counterfoil
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The database: postgresql://USER@HOST/NAME. (default: $\(Database.variable))", valueName: "uri"))
    var database: String?

    @Flag(name: .long, help: "Only check whether the tables are those of this version.")
    var check = false

    private var chosen: Database {
        get throws {
            if let database { return try Database(database, givenBy: "--database", serverKeyFile: nil) }
            guard let text = ProcessInfo.processInfo.environment[Database.variable] else {
                throw ValidationError("Name the database with --database or \(Database.variable).")
            }
            return try Database(text, givenBy: Database.variable, serverKeyFile: nil)
        }
    }

    func validate() throws { _ = try chosen }

    func run() async throws {
        let database = try chosen
        do {
            guard !check else {
                try await PostgreSQLStore.check(database.string)
                return Output.note("The tables in \(database.string) are up to date.")
            }
            let steps = try await PostgreSQLStore.migrate(database.string)
            Output.note(
                steps == 0
                    ? "The tables in \(database.string) were up to date."
                    : "The tables in \(database.string) are now those of this version.")
        } catch {
            throw CommandFailure(error)
        }
    }
}

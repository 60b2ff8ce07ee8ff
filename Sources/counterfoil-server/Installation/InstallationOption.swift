import ArgumentParser
import CounterfoilPostgreSQL
import CounterfoilSQL
import CounterfoilServer
import Foundation

/// The options that name the store of a server: `--data-dir`, or `--database` with `--server-key-file`.
struct InstallationOption: ParsableArguments {
    @Option(
        name: .customLong("data-dir"),
        help: ArgumentHelp(
            "The data directory of the server. (default: $\(StandardDataDirectory.variable) or the user's data folder)",
            valueName: "directory"))
    var directory: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A PostgreSQL database instead of a data directory: postgresql://USER@HOST/NAME. "
                + "(default: $\(Database.variable))",
            valueName: "uri"))
    var database: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The file with the server key, 32 bytes, for --database. (default: $\(ServerKey.variable))",
            valueName: "file"))
    var serverKeyFile: String?

    @OptionGroup var settingsFile: SettingsFileOption

    /// The place of a store.
    enum Place {
        case directory(String)
        case database(Database)

        /// The name of the place in structured logs.
        var key: String {
            switch self {
            case .directory: "data_dir"
            case .database: "database"
            }
        }

        /// Returns the place with a maximum number of connections, if it is a database.
        func limited(to connections: Int) -> Place {
            guard case .database(var database) = self else { return self }
            database.connections = connections
            return .database(database)
        }
    }

    /// The place of the store; it is not opened.
    ///
    /// - Throws: `ValidationError` if an option is empty, if both places are named, or if none is and there is no
    ///   default.
    var place: Place {
        get throws { try place(ProcessInfo.processInfo.environment) }
    }

    private func place(_ environment: [String: String]) throws -> Place {
        guard directory == nil || database == nil else {
            throw ValidationError("--data-dir and --database cannot be combined.")
        }
        if let directory {
            guard !directory.isEmpty else { throw ValidationError("--data-dir cannot be empty.") }
        }
        guard database?.isEmpty != true else { throw ValidationError("--database cannot be empty.") }
        guard serverKeyFile?.isEmpty != true else { throw ValidationError("--server-key-file cannot be empty.") }
        let text = directory == nil ? database ?? environment[Database.variable] : nil
        guard text?.isEmpty != true else {
            throw ValidationError("\(Database.variable) cannot be empty. Unset it, or name a database.")
        }
        guard let text else {
            guard serverKeyFile == nil else { throw ValidationError("--server-key-file requires --database.") }
            return .directory(try directory ?? StandardDataDirectory.path(environment))
        }
        guard database != nil || environment[StandardDataDirectory.variable] == nil else {
            throw ValidationError(
                "\(Database.variable) and \(StandardDataDirectory.variable) are both set. Unset one of them.")
        }
        return .database(
            try Database(
                text, givenBy: database == nil ? Database.variable : "--database", serverKeyFile: serverKeyFile))
    }

    func validate() throws { _ = try place }

    /// Opens the store, runs `work`, and closes the store.
    ///
    /// If `creating` is false, a missing data directory is an error.
    func withInstallation<Result>(
        creating: Bool = true, _ work: (Installation) async throws -> Result
    ) async throws -> Result {
        let installation: Installation
        let place = try place
        switch place {
        case .directory(let path): installation = try DataDirectory(at: path, creating: creating).installation
        case .database(let database): installation = try await database.open()
        }
        do {
            try await KeyRing.check(installation.store, serverKey: installation.serverKey)
            try await installation.store.checkRestored()
            // Root opens only directories of its own.
            await installation.followJournal(trusting: place.key == "data_dir")
            let result = try await work(installation)
            await installation.store.close()
            return result
        } catch let refusal as KeyRing.Refusal {
            await installation.store.close()
            throw CommandFailure.refused("\(refusal)")
        } catch let refusal as UnfinishedRestore {
            await installation.store.close()
            throw CommandFailure.refused("\(refusal)")
        } catch let fault as StoreFault {
            await installation.store.close()
            throw CommandFailure(fault)
        } catch {
            await installation.store.close()
            throw error
        }
    }
}

extension InstallationOption.Place: CustomStringConvertible {
    /// The path of the directory, or the servers and the name of the database.
    var description: String {
        switch self {
        case .directory(let path): path
        case .database(let database): "\(database.string)"
        }
    }
}

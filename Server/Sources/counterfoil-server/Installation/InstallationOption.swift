import ArgumentParser
import CounterfoilPostgreSQL
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

extension Settings {
    static let dataDir = Setting<String?>(
        "data-dir", .text, value: "directory", example: "/var/lib/counterfoil",
        "The data directory of the server. (default: $COUNTERFOIL_DATA_DIR or the user's data folder)")
    static let database = Setting<Database?>(
        "database", .database, value: "uri",
        example: "postgresql://counterfoil@db.example.com/counterfoil?passfile=/var/lib/counterfoil/pgpass",
        "A PostgreSQL database instead of a data directory: postgresql://USER@HOST/NAME. "
            + "(default: $COUNTERFOIL_DATABASE)")
    static let serverKeyFile = Setting<String?>(
        "server-key-file", .text, value: "file", example: "/etc/counterfoil/server.key",
        "The file with the server key, 32 bytes, for --database. (default: $\(ServerKey.variable))")
}

extension SettingForm<Database> {
    /// A connection string, which an error does not show: it can contain a password.
    fileprivate static let database = SettingForm(
        .text("^postgres(ql)?://"),
        read: { text throws(SettingRefusal) in
            guard !text.isEmpty else { throw .empty }
            do { return try Database(text) } catch { throw .reason("\(error)") }
        }, text: { $0.text })
}

/// The options that name the store of a server: `--data-dir`, or `--database` with `--server-key-file`.
struct InstallationOption: SettingGroup {
    static let title = ServiceOptions.title

    @Option(Settings.dataDir) var directory: String?
    @Option(Settings.database) var database: String?
    @Option(Settings.serverKeyFile) var serverKeyFile: String?

    @Option(SettingsFileOption.shown) var settingsFile: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.dataDir, \.directory), .init(Settings.database, \.database),
        .init(Settings.serverKeyFile, \.serverKeyFile),
    ]

    /// The place of a store.
    enum StoreLocation {
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
        func limited(to connections: Int) -> StoreLocation {
            guard case .database(var database) = self else { return self }
            database.connections = connections
            return .database(database)
        }
    }

    /// The place of the store; it is not opened.
    ///
    /// - Throws: ``CommandFailure`` if an option is empty, if both places are named, or if none is and there is no
    ///   default.
    var storeLocation: StoreLocation {
        get throws(CommandFailure) { try settings().storeLocation }
    }

    /// Reads the settings that name the store, from the command line, the environment and the settings file.
    func settings(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandFailure) -> SettingValues {
        let section = SettingSection<Self>(\.self)
        let sources = try SettingSources(naming: settingsFile, environment: environment)
        return try SettingValues(section.settings, options: section.texts(self), sources)
    }

    /// Opens the store, runs `work`, and closes the store.
    ///
    /// If `creating` is false, a missing data directory is an error.
    func withInstallation<Result>(
        creating: Bool = true, _ work: (Installation) async throws -> Result
    ) async throws -> Result {
        let installation: Installation
        let storeLocation = try storeLocation
        switch storeLocation {
        case .directory(let path): installation = try await DataDirectory(at: path, creating: creating).installation
        case .database(let database): installation = try await database.open()
        }
        do {
            try await KeyRing.check(installation.store, serverKey: installation.serverKey)
            try await installation.store.checkRestored()
            // Each server on a database has its own journal, and adds what commands end there.
            if case .directory(let path) = storeLocation,
                let journal = DataDirectory.journal(recordedIn: installation.recorded, in: path)
            {
                await installation.follow(journalAt: journal)
            }
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

extension InstallationOption.StoreLocation: CustomStringConvertible {
    /// The path of the directory, or the servers and the name of the database.
    var description: String {
        switch self {
        case .directory(let path): path
        case .database(let database): "\(database.string)"
        }
    }
}

extension SettingValues {
    /// The place of the store; it is not opened.
    ///
    /// - Throws: ``CommandFailure`` if both places are named, or if none is and there is no default.
    var storeLocation: InstallationOption.StoreLocation {
        get throws(CommandFailure) {
            guard var database = self[Settings.database] else {
                guard self[Settings.serverKeyFile] == nil else {
                    throw texts.failure("\(Settings.serverKeyFile) requires \(Settings.database).")
                }
                if let directory = self[Settings.dataDir] { return .directory(directory) }
                return .directory(try StandardDataDirectory.path())
            }
            guard self[Settings.dataDir] == nil else {
                throw texts.failure("\(Settings.dataDir) and \(Settings.database) cannot be combined.")
            }
            database.serverKeyFile = self[Settings.serverKeyFile]
            return .database(database)
        }
    }
}

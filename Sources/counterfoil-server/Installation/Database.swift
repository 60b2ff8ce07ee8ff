import ArgumentParser
import CounterfoilPostgreSQL
import CounterfoilServer

/// A PostgreSQL database with a store, and the file with its server key.
///
/// The server key is never in the database, so a copy of the database is useless without it.
struct Database {
    /// The environment variable that names the database.
    static let variable = "COUNTERFOIL_DATABASE"

    /// The connection string as it was given; it contains no secret.
    let text: String
    let string: ConnectionString
    /// The file with the server key; nil if the environment contains the key.
    let serverKeyFile: String?

    /// Parses a connection string; throws `ValidationError` if it is wrong or contains a password.
    ///
    /// - Parameter source: The option or the environment variable with the string.
    init(_ text: String, givenBy source: String, serverKeyFile: String?) throws {
        do { string = try ConnectionString(text) } catch { throw ValidationError("\(source): \(error).") }
        self.text = text
        self.serverKeyFile = serverKeyFile
    }

    /// Opens the store.
    ///
    /// - Parameter unsupported: The reporter of values that a newer version has written; by default it prints a
    ///   warning.
    func open(
        reporting unsupported: UnsupportedValues = UnsupportedValues { Output.note("warning: not shown: \($0)") }
    ) async throws -> Installation {
        let serverKey = try serverKey()
        do {
            let store = try await PostgreSQLStore.open(string, reporting: unsupported)
            let texts = try await store.notedSettings()
            let noted = NotedSettings(
                Dictionary(
                    uniqueKeysWithValues: NotedSettings.Name.allCases.compactMap { name in
                        texts[name.rawValue].map { (name, $0) }
                    }))
            return Installation(store: store, serverKey: serverKey, noted: noted, options: "--database '\(text)'")
        } catch let refusal as OpeningRefusal {
            throw CommandFailure(refusal)
        } catch let fault as StoreFault {
            throw CommandFailure(fault)
        }
    }

    /// Opens the store for a server, and stores the settings that administration commands need.
    func serve(_ settings: ServerSettings, reporting unsupported: UnsupportedValues) async throws -> Installation {
        let installation = try await open(reporting: unsupported)
        guard let store = installation.store as? PostgreSQLStore else { return installation }
        let texts = NotedSettings(settings).texts
        do {
            try await store.note(
                Dictionary(uniqueKeysWithValues: texts.map { ($0.key.rawValue, $0.value) }))
        } catch {
            throw CommandFailure(error)
        }
        return installation
    }

    private func serverKey() throws -> ServerKey {
        if let serverKeyFile { return try ServerKeyFile(path: serverKeyFile).read() }
        guard let key = try ServerKey.fromEnvironment() else {
            throw CommandFailure.refused(
                "the server key is missing; set \(ServerKey.variable), or name a file with --server-key-file")
        }
        return key
    }
}

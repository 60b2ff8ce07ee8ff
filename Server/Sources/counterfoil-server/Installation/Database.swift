import CounterfoilPostgreSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

/// A PostgreSQL database with a store, and the file with its server key.
///
/// The server key is never in the database, so a copy of the database is useless without it.
struct Database: Sendable {
    /// The connection string as it was given; it contains no secret.
    let text: String
    let string: ConnectionString
    /// The file with the server key; nil if the environment contains the key.
    var serverKeyFile: String?
    /// The maximum number of connections of this process.
    var connections = PostgreSQLStore.standardConnections

    /// Parses a connection string; throws an error if it is wrong or contains a password.
    init(_ text: String) throws {
        string = try ConnectionString(text)
        self.text = text
    }

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - checksKeyMode: Whether to refuse a file of the server key that other users can access.
    ///   - unsupported: The reporter of values that a newer version has written; by default it prints a warning.
    func open(
        checkingKeyMode checksKeyMode: Bool = true,
        reporting unsupported: UnsupportedValues = UnsupportedValues { Output.note("warning: not shown: \($0)") }
    ) async throws -> Installation {
        let serverKey = try serverKey(checkingMode: checksKeyMode)
        let store: PostgreSQLStore
        do {
            store = try await PostgreSQLStore.open(string, connections: connections, reporting: unsupported)
        } catch {
            throw CommandFailure(error)
        }
        do {
            let texts = try await store.recordedSettings()
            return Installation(
                store: store, database: store, serverKey: serverKey, recorded: RecordedSettings { texts[$0] },
                options: options,
                note: { settings in
                    let texts = try await store.recordedSettings()
                    try await store.note(settings.following(RecordedSettings { texts[$0] }).named)
                },
                noteKeptToken: { fingerprint, time in
                    try await store.note(rewriting: ServerKeyUses.name) { stored in
                        var uses = ServerKeyUses(stored)
                        uses.note(serverKey.fingerprints, at: time)
                        uses.noteKeptToken(of: fingerprint, at: time)
                        return uses.text
                    }
                })
        } catch {
            await store.close()
            throw CommandFailure(error)
        }
    }

    /// The options that name the store in a command line of a shell.
    private var options: String {
        "--database \(ShellText.quoted(text))"
            + (serverKeyFile.map { " --server-key-file \(ShellText.quoted($0))" } ?? "")
    }

    func serverKey(checkingMode checksMode: Bool = true) throws -> ServerKey {
        if let serverKeyFile {
            guard FileManager.default.fileExists(atPath: serverKeyFile) else {
                throw CommandFailure.refused(
                    "there is no server key at \(serverKeyFile), which the setting server-key-file names; correct the path, or "
                        + "before the first start create the file: 32 random bytes, mode 600")
            }
            return try ServerKeyFile(path: serverKeyFile).read(checkingMode: checksMode)
        }
        guard let key = try ServerKey.given() else {
            throw CommandFailure.refused(
                "the server key is missing; set \(ServerKey.variable), name a file with --server-key-file, or "
                    + "load the credential server-key with systemd")
        }
        return key
    }
}

import ArgumentParser
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The command `after-restore`, which makes a store safe to serve that another program has brought back.
struct AfterRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "after-restore",
        abstract: "Finish a restore that another program has made.",
        discussion: """
            Run it after a PostgreSQL database was restored, or a data directory from a snapshot of the disk or by \
            Litestream, and before a server starts on it. Upgrade the tables of a database first, with migrate. The \
            command can be repeated if it is interrupted.

            What was revoked after the copy is valid in it. Choose what happens with it:
              --endings-journal ends again what the journal of the server names (serve --endings-journal). Name \
            each file that was written since the copy.
              --end-sign-ins ends every session and revokes every token, so users sign in again.

            Codes and requests that wait for an answer are ended in any case.

            Examples:
              counterfoil-server after-restore --data-dir ./data \\
                --endings-journal /journal/endings*
              counterfoil-server after-restore --end-sign-ins \\
                --database postgresql://counterfoil@db.example.com/counterfoil
            """
    )

    @OptionGroup var answer: RestoreAnswer
    @OptionGroup var location: InstallationOption

    func run() async throws {
        switch try location.storeLocation {
        case .directory(let path):
            let lock = try DataDirectory.lock(
                existing: path, orRefuse: "a server runs on \(path); stop it first")
            defer { withExtendedLifetime(lock) {} }
            let directory = try await DataDirectory(at: path, creating: false, lockedBy: lock)
            DataDirectory.report(directory.store)
            try await finish(directory.installation)
        case .database(let database):
            try await finish(try await database.open())
        }
    }

    /// Throws if a server uses a database; several processes can, so there is no lock.
    private static func refuseWhileServing(_ store: any SQLStore) async throws {
        guard try await store.isServed() else { return }
        throw CommandFailure.refused(
            "a server runs on this database, or has run until the moment that was restored; stop every server, and try "
                + "again in three minutes; nothing was changed")
    }

    private func finish(_ installation: Installation) async throws {
        do {
            guard try await !installation.store.isUnused() else {
                throw CommandFailure.refused(
                    "the database is empty: no server has run on it, so the restore has failed; restore the copy again, and "
                        + "then run after-restore; nothing was changed")
            }
            if installation.database != nil { try await Self.refuseWhileServing(installation.store) }
            try await KeyRing.check(installation.store, serverKey: installation.serverKey)
            try await answer.apply(to: installation, origin: "by another program")
            await installation.store.close()
        } catch {
            await installation.store.close()
            switch error {
            case let refusal as KeyRing.Refusal: throw CommandFailure.refused("\(refusal)")
            case let fault as StoreFault: throw CommandFailure(fault)
            default: throw error
            }
        }
        Output.note(answer.remaining)
    }
}

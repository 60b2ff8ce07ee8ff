import CounterfoilPostgreSQL
import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import Foundation

/// The store of a server, its server key, and the settings that the server last used, for administration commands.
struct Installation {
    let store: any SQLStore
    /// The store, if it is in a database, on which several servers can run.
    var database: PostgreSQLStore?
    /// The key from which the server derives its other secrets.
    let serverKey: ServerKey
    /// The settings of the server that last ran on the store.
    let noted: NotedSettings
    /// The options that name the store in a command line.
    let options: String
    /// Stores the settings of a server that starts on the store.
    let note: @Sendable (NotedSettings) async throws -> Void
    /// Stores that a client used a refresh token that it kept of the server key with a fingerprint, at a time.
    var noteKeptToken: FormerTokenUses.Recorder = { _, _ in }

    /// Creates the event of a change that an administration command makes, for the commit of the change.
    func event(
        _ kind: AuditEvent.Kind, person: PersonIdentifier? = nil, client: ClientIdentifier? = nil, detail: String
    ) -> AuditEvent {
        AuditEvent(
            at: store.now(), kind, personID: person, clientID: client, detail: "at the command line: " + detail)
    }

    /// The issuer of the server that last ran on the store; nil if none has run.
    ///
    /// Commands need it to refuse redirect URIs that belong to the server itself.
    var issuer: Issuer? { noted.issuer }

    /// The callback origin of the server that last ran on the store; nil if it has none.
    var callbackOrigin: CallbackOrigin? { noted.callbackOrigin }

    /// The redirect URI schemes without a period that the server allowed when it last ran on the store.
    ///
    /// Commands accept the same schemes.
    var plainSchemes: Set<String> { noted.plainSchemes }

    /// The setting ``ServerSettings/allowsDevelopmentRedirectURIs`` of the server that last ran on the store; true if
    /// none has run.
    var allowsDevelopmentRedirectURIs: Bool { noted.allowsDevelopmentRedirectURIs }
}

extension Installation {
    /// Writes to the endings journal of the server what a command ends.
    ///
    /// If that is not possible, for example because the journal is on another machine, the command continues. The
    /// server then writes it within a minute.
    ///
    /// As root, a command follows the path only if `isTrusted`: every user who can write to a database can change it.
    func followJournal(trusting isTrusted: Bool) async {
        guard let path = noted.endingsJournal, isTrusted || geteuid() != 0 else { return }
        @Sendable func warn(_ failure: JournalFailure) {
            Output.note(
                "warning: \(failure); what this command ends is in the database, and the server adds it to its journal "
                    + "within a minute")
        }
        do { _ = try await EndingsJournal.open(of: store, at: path, marking: false, reporting: warn) } catch {
            warn(error)
        }
    }

    /// Opens the endings journal of a server.
    ///
    /// A data directory that lacks endings of the journal is refused. A database can lose its last commits by a
    /// failover while other servers use it; to refuse it would turn the next restart of each server into an outage.
    func journal(
        at path: String, named name: String, reporting report: @escaping @Sendable (JournalFailure) -> Void
    ) async throws -> EndingsJournal {
        do {
            return try await EndingsJournal.open(
                of: store, at: path, marking: true, takingEarlierStore: database != nil, reporting: report)
        } catch {
            switch error {
            case .notAJournal, .ofAnotherStore, .aheadOfStore:
                throw CommandFailure.refused("\(name): \(error)")
            case .failed where EndingsOptions.forbids(path): throw CommandFailure.refused("\(name): \(error)")
            case .failed, .store: throw CommandFailure.temporary("\(name): \(error)")
            }
        }
    }
}

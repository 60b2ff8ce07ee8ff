import CounterfoilPostgreSQL
import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The store of a server, its server key, and the settings that the server last used, for administration commands.
struct Installation {
    var store: any SQLStore
    /// The store, if it is in a database, on which several servers can run.
    var database: PostgreSQLStore?
    /// The key from which the server derives its other secrets.
    let serverKey: ServerKey
    /// The settings of the server that last ran on the store.
    var recorded: RecordedSettings
    /// The options that name the store in a command line.
    let options: String
    /// Stores the settings of a server that starts on the store.
    let note: @Sendable (RecordedSettings) async throws -> Void
    /// Stores that a client used a refresh token that it kept of the server key with a fingerprint, at a time.
    var noteKeptToken: PreviousKeyTokenUses.Recorder = { _, _ in }

    /// Creates the event of a change that an administration command makes, for the commit of the change.
    func event(
        _ kind: AuditEvent.Kind, user: UserIdentifier? = nil, client: ClientIdentifier? = nil, detail: String
    ) -> AuditEvent {
        AuditEvent(
            at: store.now(), kind, userID: user, clientID: client, detail: "at the command line: " + detail)
    }

    /// The changes of keys, of the certificate and of registration tokens that an administration command makes.
    var administration: ServerAdministration {
        ServerAdministration(
            store, serverKey: serverKey, at: store.now(), recording: { [self] in event($0, detail: $1) })
    }

    /// The queue of mails; nil if the server that last ran on the store has no mail.
    var mails: MailQueue? {
        guard let issuer, recorded.sendsMail != false else { return nil }
        return MailQueue(of: store, issuer: issuer, serverKey: serverKey)
    }

    /// The issuer of the server that last ran on the store; nil if none has run.
    ///
    /// Commands need it to refuse redirect URIs that belong to the server itself.
    var issuer: Issuer? { recorded.issuer }

    /// The callback origin of the server that last ran on the store; nil if it has none.
    var callbackOrigin: CallbackOrigin? { recorded.callbackOrigin }

    /// The redirect URI schemes without a period that the server allowed when it last ran on the store.
    ///
    /// Commands accept the same schemes.
    var plainSchemes: Set<String> { recorded.plainSchemes }

    /// The setting ``ServerSettings/allowsDevelopmentRedirectURIs`` of the server that last ran on the store; true if
    /// none has run.
    var allowsDevelopmentRedirectURIs: Bool { recorded.allowsDevelopmentRedirectURIs }
}

extension Installation {
    /// Writes to an endings journal what a command ends.
    ///
    /// If that is not possible, for example because the journal is on another machine, the command continues. The
    /// server then writes it within a minute. If the store lacks endings of the journal, only a server ends them again:
    /// a command would do it with each copy of the store.
    func follow(journalAt path: String) async {
        @Sendable func warn(_ failure: JournalFailure) {
            if case .aheadOfStore = failure {
                return Output.note(
                    "warning: the store lacks endings of its endings journal \(path), so what had ended is valid in it; the "
                        + "server ends it again when it starts, or within a minute; this command writes nothing to the "
                        + "journal")
            }
            Output.note(
                "warning: \(failure); what this command ends is in the database, and the server adds it to its journal "
                    + "within a minute")
        }
        do { try await EndingsJournal.open(of: store, at: path, marking: false, reporting: warn) } catch { warn(error) }
    }

    /// Opens the endings journal of a server.
    ///
    /// The journal can lack its store (``EndingsJournal/lacksStore``).
    func journal(
        at path: String, named name: String, reporting report: @escaping @Sendable (JournalFailure) -> Void
    ) async throws(CommandFailure) -> EndingsJournal {
        do {
            return try await EndingsJournal.open(
                of: store, at: path, marking: true, takingEarlierStore: true, reporting: report)
        } catch {
            if case .ofAnotherStore = error, (try? await store.isUnused()) == true {
                throw .refused(
                    "\(name): \(path) has the endings of a database, and this one is empty; restore a copy, or for a new "
                        + "server name another file")
            }
            throw CommandFailure(error, ofJournalAt: path, named: name)
        }
    }

    /// Ends again in a store what its endings journal has and the store lacks, and continues the journal.
    ///
    /// A store lacks it after a failover to a standby without the last commits, and if it was brought back from an
    /// earlier state. Servers can use it meanwhile.
    ///
    /// - Returns: What was ended again; nil if the store lacks nothing, because another process has done it.
    /// - Throws: ``JournalFailure/aheadOfStore(path:)`` if a data directory can lack more than the journal has, and a
    ///   fault of the store. A database is not refused for that: other servers use it, and each restart would become an
    ///   outage.
    func endAgain(_ journal: EndingsJournal) async throws -> ReplayedEndings? {
        guard let lost = try await journal.lostEndings() else { return nil }
        guard database != nil || !lost.canLackOthers else { throw JournalFailure.aheadOfStore(path: journal.path) }
        let restored = RestoredStore(store, serverKey: serverKey)
        let ended = ReplayedEndings(
            report: try await restored.endAgain(lost.endings), canLackOthers: lost.canLackOthers, path: journal.path)
        try await restored.endRequests(recording: ended.events(in: store))
        try await journal.turn(from: lost)
        return ended
    }
}

extension CommandFailure {
    /// Creates the error of a server that cannot use its endings journal.
    ///
    /// - Parameter name: The setting that names the journal, with its place.
    init(_ failure: JournalFailure, ofJournalAt path: String, named name: String) {
        self =
            switch failure {
            case .notAJournal, .ofAnotherStore, .restoredWithout, .aheadOfStore: .refused("\(name): \(failure)")
            case .failed where EndingsOptions.forbids(path): .refused("\(name): \(failure)")
            case .failed, .store: .temporary("\(name): \(failure)")
            }
    }
}

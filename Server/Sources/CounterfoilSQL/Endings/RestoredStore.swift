@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// The result of a restore with a journal, for the operator.
package struct RestoreReport: Sendable, Hashable {
    /// The number of endings that were applied.
    package var endings = 0
    /// The users whose password was changed or removed after the copy, so that they have none now.
    package var withoutPassword: [String] = []
    /// The users whose second factor was set up or replaced after the copy, so that it is missing now.
    package var withoutSecondFactor: [String] = []
    /// The other users who have no password, no passkey and no identity now, if one of the latter was deleted after the
    /// copy.
    package var withoutWayIn: [String] = []
    /// The users who were disabled after the copy.
    package var disabled: [String] = []
    /// The users who lost a role or got another one after the copy, so that they have none now.
    package var demoted: [String] = []
    /// The users who lost a group or the value of an attribute after the copy, so that they do not have it now.
    package var withoutAttributes: [String] = []
    /// The clients that were suspended after the copy, so that they are suspended now.
    package var suspendedClients: [String] = []
    /// The clients that were changed after the copy and have their former registration.
    package var changedClients: [String] = []
    /// The APIs that were changed after the copy and have their former registration, by their indicators.
    package var changedAPIs: [String] = []
    /// Whether the policy for unregistered clients was changed after the copy.
    package var hasFormerPolicy = false
    /// The users who were deleted after the copy, but are the last owner in it, and were disabled instead.
    package var keptOwners: [String] = []

    package init() {}
}

/// The steps that make a store from a copy safe to serve.
///
/// Each step can be repeated. The store counts as restored with the last one, ``finish(recording:continuing:)``.
package struct RestoredStore: Sendable {
    private let store: any SQLStore
    private let serverKey: ServerKey
    private let now: Date

    /// The number of endings that one transaction applies.
    private static let batch = 500

    package init(_ store: any SQLStore, serverKey: ServerKey) {
        self.store = store
        self.serverKey = serverKey
        now = store.now()
    }

    /// Reads the position of the copy in the endings.
    ///
    /// It is that of the copy also after a restore that was interrupted, which has recorded endings of its own.
    package func position() async throws(StoreFault) -> EndingsPosition {
        let position = try await store.read { try $0.endingsPosition() }
        return EndingsPosition(
            identity: position.identity, former: position.former, first: position.first,
            last: position.restoringFrom ?? position.last, restoringFrom: position.restoringFrom)
    }

    /// Notes that the store is not restored yet, and from which position; no server starts on it until
    /// ``finish(recording:continuing:)``.
    package func begin() async throws(StoreFault) {
        try await store.commit { connection in
            try connection.send(
                """
                UPDATE endings_record SET restoring_from = \(StoreQuery.lastEnding) WHERE restoring_from IS NULL
                """)
        }
    }

    /// Reads the endings that the copy knows and still has, in their order.
    package func knownEndings() async throws(StoreFault) -> [Ending] {
        let last = try await position().last
        return try await store.read { try $0.endings(after: 0, through: last) }
    }

    /// Ends again what a journal says.
    package func apply(_ history: EndingsHistory) async throws(StoreFault) -> RestoreReport {
        try await begin()
        return try await endAgain(history.endings, ownCount: history.ownCount)
    }

    /// Ends again what was ended before.
    ///
    /// Servers can use the store meanwhile.
    ///
    /// - Parameters:
    ///   - endings: The endings.
    ///   - ownCount: The number of the first ones in which the number of a user is that of the store. In the others, it
    ///     can be that of an earlier user, whom the database lost.
    package func endAgain(_ endings: [Ending], ownCount: Int = 0) async throws(StoreFault) -> RestoreReport {
        var report = RestoreReport()
        var batch: [Repetition] = []
        let repetitions = endings.enumerated().map { Repetition($1, isOwn: $0 < ownCount) }
        for repetition in repetitions {
            let ending = repetition.ending
            guard let kind = Ending.Kind(name: ending.kind) else { continue }
            switch kind {
            case .userDeleted:
                try await apply(&batch)
                try await removeUser(repetition, &report)
            case .client:
                try await apply(&batch)
                if let client = ClientIdentifier(ending.subject) {
                    _ = try await store.removeClient(client, recording: [])
                }
            case .scope:
                try await apply(&batch)
                if let token = Scope.Token(ending.subject) {
                    _ = try await store.removeScope(token, takingFromUses: true, at: now) { _ in [] }
                }
            default:
                batch.append(repetition)
                if batch.count == Self.batch { try await apply(&batch) }
            }
            report.endings += 1
        }
        try await apply(&batch)
        while try await store.continueRemovals(atMost: Self.batch) > 0 {}
        try await describe(repetitions, in: &report)
        return report
    }

    /// Ends every sign-in: sessions, grants with their codes and tokens, and requests that are not answered yet.
    ///
    /// It also deletes the signing keys, so that access tokens which APIs verify themselves are refused, the tokens
    /// for registrations, and the invitations, and pauses the webhooks. The next start of a server creates new signing
    /// keys.
    package func endSignIns() async throws(StoreFault) {
        try await begin()
        let time = now.microseconds
        try await inBatches("grants", key: "number", where: "revoked_at IS NULL") { rows in
            "UPDATE grants SET revoked_at = \(time) WHERE \(rows)"
        }
        for table in ["sessions", "initial_access_tokens", "invitations"] {
            try await inBatches(table, key: "digest") { rows in "DELETE FROM \(table) WHERE \(rows)" }
        }
        // A consent for an API alone is in the second column only.
        let isRemembered = "remembered <> '' OR remembered_at <> ''"
        try await inBatches("consents", key: "person_id, client_id", where: isRemembered) { rows in
            "UPDATE consents SET remembered = '', remembered_at = '' WHERE \(rows)"
        }
        try await inBatches("signing_keys", key: "id") { rows in "DELETE FROM signing_keys WHERE \(rows)" }
        // A receiver that was removed or moved after the copy gets no events.
        try await inBatches("webhooks", key: "id", where: "state = 'active'") { rows in
            "UPDATE webhooks SET state = 'paused', revision = revision + 1 WHERE \(rows)"
        }
    }

    /// Changes rows of a table in transactions of a limited size, until none is left.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - key: The columns of its primary key.
    ///   - condition: The rows that are left.
    ///   - statement: Makes a statement from a condition for the rows of one transaction.
    private func inBatches(
        _ table: String, key: String, where condition: String = "1 = 1", _ statement: (String) -> String
    ) async throws(StoreFault) {
        // Of the endings, the last ones stay until the end: they show what the copy knows, if the restore is repeated.
        let sql = statement(
            "(\(key)) IN (SELECT \(key) FROM \(table) WHERE \(condition) ORDER BY \(key) LIMIT \(Self.batch))")
        while try await store.commit(ending: .any, { connection in try connection.run(sql) }) > 0 {}
    }

    /// Ends what was issued for one use, and gives the store a sequence of endings of its own.
    ///
    /// What was used after the copy must not be usable a second time: codes, also those that devices poll for, pushed
    /// requests, requests of devices, links of users, and links that persons asked for to create an account.
    ///
    /// - Parameters:
    ///   - events: The events of the restore.
    ///   - end: The end of the journal that was applied, which the new sequence continues; nil if none was.
    package func finish(recording events: [AuditEvent], continuing end: EndingsPosition?) async throws(StoreFault) {
        let identity = RandomBytes().bytes(16).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
        try await store.commit { connection in try connection.keepLastEnding() }
        try await inBatches("endings", key: "number") { rows in "DELETE FROM endings WHERE \(rows)" }
        try await store.commit { connection in
            try connection.endRequests()
            try connection.send("DELETE FROM endings")
            try connection.send(
                """
                UPDATE endings_record SET identity = ?1, former = ?2,
                    first_number = coalesce(?3, last_number), last_number = coalesce(?3, last_number),
                    restoring_from = NULL
                """, identity, end?.identity, end?.last)
            try connection.append(events)
        }
    }

    /// Ends what was issued for one use, in a store that servers use.
    package func endRequests(recording events: [AuditEvent]) async throws(StoreFault) {
        try await store.commit { connection in
            try connection.endRequests()
            try connection.append(events)
        }
    }

    // MARK: - Endings

    private func apply(_ batch: inout [Repetition]) async throws(StoreFault) {
        guard !batch.isEmpty else { return }
        let repetitions = batch
        batch = []
        let time = now.microseconds
        try await store.commit(ending: .any) { connection in
            for repetition in repetitions { try connection.endAgain(repetition, at: time) }
        }
    }

    private func removeUser(_ repetition: Repetition, _ report: inout RestoreReport) async throws(StoreFault) {
        let found = try await store.read { connection in
            try connection.first(
                "SELECT id FROM people WHERE \(SQLConnection.isUser)", repetition.user, repetition.latestUser
            ) { try $0.text() }
        }
        guard let id = found, let user = UserIdentifier(id) else { return }
        let time = now.microseconds
        // Apps that went with the user have endings of their own. Others had got another owner, who is unknown.
        try await store.commit(ending: .any) { connection in
            try connection.send(
                "UPDATE clients SET owner_id = NULL, changed_at = ?2, revision = revision + 1 WHERE owner_id = ?1", id,
                time)
        }
        let terms: RemovalTerms
        do { terms = try RemovalTerms(of: user, with: serverKey, ownedClients: .refuse) } catch {
            throw .damaged("cannot compute the pseudonym of a deleted user")
        }
        let outcome = try await store.beginRemoval(of: user, by: terms, recording: { _ in [] }, at: now)
        guard case .lastOwner = outcome else { return }
        try await store.commit(ending: .any) { connection in
            try connection.send(
                "UPDATE people SET password_hash = NULL, disabled_at = coalesce(disabled_at, ?2) WHERE id = ?1", id,
                time)
        }
        report.keptOwners += try await usernames([repetition])
    }

    private func describe(_ repetitions: [Repetition], in report: inout RestoreReport) async throws(StoreFault) {
        func distinct(_ kind: Ending.Kind) -> [Repetition] {
            var seen: Set<String> = []
            return repetitions.filter { $0.ending.kind == kind.name && seen.insert($0.ending.subject).inserted }
        }
        report.withoutPassword = try await usernames(distinct(.password))
        if !distinct(.secondFactor).isEmpty {
            report.withoutSecondFactor = try await store.read { connection in
                try connection.all(
                    """
                    SELECT username FROM people WHERE has_second_factor = 1
                        AND NOT EXISTS (SELECT 1 FROM second_factors WHERE person_id = people.id)
                    ORDER BY username
                    """
                ) { try $0.text() }
            }
        }
        if !distinct(.passkey).isEmpty || !distinct(.userIdentity).isEmpty {
            // A passkey that replaced the deleted one after the copy is lost.
            let users = try await store.read { connection in
                try connection.all(
                    """
                    SELECT username FROM people WHERE password_hash IS NULL AND disabled_at IS NULL
                        AND NOT EXISTS (SELECT 1 FROM passkeys WHERE person_id = people.id AND is_security_key = 0)
                        AND NOT EXISTS (SELECT 1 FROM user_identities WHERE person_id = people.id)
                    ORDER BY username
                    """
                ) { try $0.text() }
            }
            report.withoutWayIn = users.filter { !report.withoutPassword.contains($0) }
        }
        report.disabled = try await usernames(distinct(.userDisabled))
        report.demoted = try await usernames(distinct(.userDemoted))
        let attributes = repetitions.filter {
            [Ending.Kind.userGroup.name, Ending.Kind.userAttribute.name].contains($0.ending.kind)
        }
        var users: Set<String> = []
        report.withoutAttributes = try await usernames(attributes.filter { users.insert($0.ending.subject).inserted })
        report.suspendedClients = try await clients(distinct(.clientSuspended))
        report.changedClients = try await clients(distinct(.clientChanged))
        let apis = distinct(.apiChanged).map(\.ending.subject)
        report.changedAPIs = try await store.read { connection in
            try apis.compactMap { api in
                try connection.first("SELECT resource FROM resources WHERE client_id = ?", api) { try $0.text() }
            }
        }
        report.hasFormerPolicy = !distinct(.policyChanged).isEmpty
    }

    private func clients(_ repetitions: [Repetition]) async throws(StoreFault) -> [String] {
        try await store.read { connection in
            try repetitions.map(\.ending.subject).filter {
                try connection.answers("SELECT EXISTS (SELECT 1 FROM clients WHERE id = ?)", $0) == [true]
            }
        }
    }

    private func usernames(_ repetitions: [Repetition]) async throws(StoreFault) -> [String] {
        try await store.read { connection in
            try repetitions.compactMap { repetition in
                try connection.first(
                    "SELECT username FROM people WHERE \(SQLConnection.isUser)", repetition.user, repetition.latestUser
                ) { try $0.text() }
            }
        }
    }
}

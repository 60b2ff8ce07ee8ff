@_spi(Counterfoil) import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads every webhook, in the order of their creation.
    public func webhooks() async throws(StoreFault) -> [Webhook] {
        try await read { database in
            try database.list(
                "SELECT \(Webhook.columns) FROM webhooks ORDER BY created_at, id", noting: unsupported,
                read: Webhook.init(_:))
        }
    }

    /// Reads a webhook; nil if there is none.
    public func webhook(_ id: WebhookIdentifier) async throws(StoreFault) -> Webhook? {
        try await read { database in try database.webhook(id) }
    }

    /// Adds a webhook, unless there are `Webhook.limit`.
    public func addWebhook(
        _ webhook: Webhook, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddWebhookOutcome {
        try await commit(recording: events) { database in
            let count = try database.first("SELECT count(*) FROM webhooks") { columns in try columns.integer() }
            guard (count ?? 0) < Webhook.limit else { return .tooMany }
            try database.send(
                """
                INSERT INTO webhooks (\(Webhook.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                values: webhook.values)
            return .added
        }
    }

    /// Changes the registration, the secrets and the state of a webhook, if its revision is still that of `former`.
    public func updateWebhook(
        _ webhook: Webhook, from former: Webhook, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateWebhookOutcome {
        try await commit(ending: .usually(.webhook), recording: events) { database in
            let revision = try database.first(
                "SELECT revision FROM webhooks WHERE id = ?", former.id.rawValue
            ) { columns in try columns.integer() }
            guard let revision else { return .notFound }
            guard revision == former.revision else { return .changedMeanwhile }
            try database.send(
                """
                UPDATE webhooks SET url = ?2, label = ?3, types = ?4, secret = ?5, former_secret = ?6,
                    former_secret_until = ?7, state = ?8, revision = revision + 1, holder = NULL, leased_until = NULL
                WHERE id = ?1
                """,
                former.id.rawValue,
                webhook.url.rawValue,
                webhook.label,
                webhook.types.joined(separator: " "),
                Data(webhook.sealedSecret),
                webhook.formerSecret.map { Data($0.sealed) },
                webhook.formerSecret?.until.microseconds,
                webhook.state.rawValue
            )
            if webhook.state == .active {
                try database.send(
                    "UPDATE webhooks SET failures = 0, failing_since = NULL, due_at = ?2 WHERE id = ?1",
                    former.id.rawValue, time.microseconds)
            }
            return .updated
        }
    }

    /// Moves the cursor of a webhook, which is due at `time` then; returns false if there is none.
    public func moveWebhook(
        _ id: WebhookIdentifier, to cursor: Int, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.webhook), recording: events) { database in
            try database.run(
                """
                UPDATE webhooks SET sent_through = ?2, due_at = ?3, failures = 0, failing_since = NULL,
                    missed_through = NULL, holder = NULL, leased_until = NULL, revision = revision + 1
                WHERE id = ?1
                """,
                id.rawValue, cursor, time.microseconds) == 1
        }
    }

    /// Deletes a webhook with its deliveries; returns false if there is none.
    public func removeWebhook(
        _ id: WebhookIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.webhook), recording: events) { database in
            try database.run("DELETE FROM webhooks WHERE id = ?", id.rawValue) == 1
        }
    }

    /// Returns the number of the seal before the first event at a time or later; nil if there is no such event.
    public func seal(before time: Date) async throws(StoreFault) -> Int? {
        let first = try await read { database in
            try database.first(Webhook.firstSeal, time.microseconds) { columns in try columns.optionalInteger() }
        }
        return (first ?? nil).map { Int($0) - 1 }
    }

    /// Reads the encrypted identifiers of deleted users, by their pseudonyms, as far as they are kept.
    public func removedSubjects(
        of pseudonyms: Set<UserIdentifier>
    ) async throws(StoreFault) -> [UserIdentifier: [UInt8]] {
        guard !pseudonyms.isEmpty else { return [:] }
        return try await read { database in
            let marks = Array(repeating: "?", count: pseudonyms.count).joined(separator: ", ")
            let found = try database.all(
                "SELECT pseudonym, sealed FROM removed_subjects WHERE pseudonym IN (\(marks))",
                values: pseudonyms.map(\.rawValue)
            ) { columns in
                (user: try columns.value(UserIdentifier.init(_:)), sealed: try columns.bytes())
            }
            return Dictionary(found.map { ($0.user, $0.sealed) }) { first, _ in first }
        }
    }

    /// Reads the progress of the webhooks.
    public func webhookProgress() async throws(StoreFault) -> WebhookProgress {
        try await read { database in
            var states: [Webhook.State: Int] = [:]
            _ = try database.all("SELECT state, count(*) FROM webhooks GROUP BY state") { columns in
                let state = Webhook.State(rawValue: try columns.text())
                let count = Int(try columns.integer())
                if let state { states[state] = count }
            }
            guard !states.isEmpty else {
                return WebhookProgress(states: [:], oldest: nil, oldestHeld: nil, failingSince: nil)
            }
            func oldest(_ condition: String) throws -> Date? {
                let time = try database.first(Webhook.oldestWaiting(condition)) { columns in
                    try columns.optionalInteger()
                }
                return (time ?? nil).map { Date(microseconds: $0) }
            }
            let failing = try database.first("SELECT min(failing_since) FROM webhooks WHERE state = 'active'") {
                columns in try columns.optionalInteger()
            }
            return WebhookProgress(
                states: states, oldest: try oldest("state = 'active'"),
                oldestHeld: try oldest("state IN ('active', 'paused')"),
                failingSince: (failing ?? nil).map { Date(microseconds: $0) })
        }
    }

    /// Replaces the encrypted forms of the secrets of a webhook by others of the same ones, unless they have changed.
    public func replaceWebhookSecrets(of former: Webhook, by webhook: Webhook) async throws(StoreFault) {
        _ = try await commit { database in
            try database.run(
                """
                UPDATE webhooks SET secret = ?3, former_secret = ?4, former_secret_until = ?5
                WHERE id = ?1 AND secret = ?2
                """,
                former.id.rawValue, Data(former.sealedSecret), Data(webhook.sealedSecret),
                webhook.formerSecret.map { Data($0.sealed) }, webhook.formerSecret?.until.microseconds)
        }
    }
}

extension SQLConnection {
    /// Keeps the encrypted identifier of a deleted user while the receivers of webhooks learn of the deletion.
    func keepSubject(of terms: RemovalTerms, at time: Date) throws {
        // A webhook that is disabled for failures can be resumed.
        let isNeeded = "SELECT EXISTS (SELECT 1 FROM webhooks WHERE state IN ('active', 'paused', 'failing'))"
        guard try answers(isNeeded) == [true] else { return }
        try send(
            """
            INSERT INTO removed_subjects (pseudonym, sealed, expires_at) VALUES (?1, ?2, ?3)
            ON CONFLICT (pseudonym) DO UPDATE SET sealed = ?2, expires_at = ?3
            """,
            terms.pseudonym.rawValue, Data(terms.sealedUserID),
            time.addingTimeInterval(Webhook.removedSubjectLifetime).microseconds)
    }

    func webhook(_ id: WebhookIdentifier) throws -> Webhook? {
        try first("SELECT \(Webhook.columns) FROM webhooks WHERE id = ?", id.rawValue, read: Webhook.init(_:))
    }
}

extension Webhook {
    static let columns = """
        id, url, label, types, secret, former_secret, former_secret_until, state, created_at, revision, sent_through,
            failures, failing_since, due_at, missed_through
        """

    /// The query for the first seal among the events from the time ?1.
    ///
    /// An event can be sealed after a later one, but not after one that is later by more than the settling time. An
    /// event without a seal is no event for a webhook.
    static let firstSeal = """
        SELECT min(audit_seals.number) FROM audit JOIN audit_seals ON audit_seals.entry = audit.number
        WHERE audit.at >= ?1
            AND audit.at <= (
                SELECT later.at FROM audit AS later
                WHERE later.at >= ?1 AND EXISTS (SELECT 1 FROM audit_seals WHERE audit_seals.entry = later.number)
                ORDER BY later.at LIMIT 1
            ) + \(Int(AuditPosition.settlingTime)) * 1000000
        """

    /// The query for the time of the oldest event that a webhook with a condition has not got.
    static func oldestWaiting(_ condition: String) -> String {
        """
        SELECT min(waiting.at) FROM (
            SELECT (
                SELECT audit_seals.at FROM audit_seals WHERE audit_seals.number > webhooks.sent_through
                ORDER BY audit_seals.number LIMIT 1
            ) AS at FROM webhooks WHERE \(condition)
        ) AS waiting
        """
    }

    fileprivate var values: [(any SQLValue)?] {
        [
            id.rawValue, url.rawValue, label, types.joined(separator: " "), Data(sealedSecret),
            formerSecret.map { Data($0.sealed) }, formerSecret?.until.microseconds, state.rawValue,
            createdAt.microseconds, revision, cursor, failures, failingSince?.microseconds, dueAt.microseconds,
            missedThrough,
        ]
    }

    init(_ columns: inout Columns) throws {
        columns.record = "webhook"
        let id = try columns.value(WebhookIdentifier.init(_:))
        let url = try columns.value { try AbsoluteURI(parsing: $0) }
        let label = try columns.text()
        let types = try columns.text().split(separator: " ").map(String.init)
        let secret = try columns.bytes()
        let former = try columns.optionalBytes()
        let formerUntil = try columns.optionalDate()
        self.init(
            id: id, url: url, label: label, types: types, sealedSecret: secret,
            formerSecret: former.flatMap { sealed in formerUntil.map { FormerSecret(sealed: sealed, until: $0) } },
            state: try columns.word(State.init(rawValue:)), createdAt: try columns.date(),
            revision: Int(try columns.integer()), cursor: Int(try columns.integer()),
            failures: Int(try columns.integer()), failingSince: try columns.optionalDate(),
            dueAt: try columns.date(), missedThrough: try columns.optionalInteger().map(Int.init))
    }
}

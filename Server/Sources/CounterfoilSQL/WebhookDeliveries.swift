import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Queues an event to be sent again, in whatever state the webhook is.
    public func resendEvent(
        _ seal: Int, to id: WebhookIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ResendEventOutcome {
        try await commit(recording: events) { database in
            guard try database.webhook(id) != nil else { return .notFound }
            let queued = try database.first(
                "SELECT count(*) FROM webhook_resends WHERE webhook_id = ?", id.rawValue
            ) { columns in try columns.integer() }
            guard (queued ?? 0) < Webhook.resendLimit else { return .queueFull }
            try database.send(
                "INSERT INTO webhook_resends (webhook_id, seal) VALUES (?, ?) ON CONFLICT DO NOTHING", id.rawValue,
                seal)
            return .queued
        }
    }

    /// Leases at most `limit` webhooks that have something to send.
    public func takeWebhooks(
        by holder: LeaseHolder, dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [TakenWebhook] {
        // Most calls find nothing due. They end after this read, without the write lock. A webhook that only a newer
        // version can read is left to it.
        let due = try await read { database in
            try database.list(
                Webhook.due, now.microseconds, later.microseconds, atMost: limit, noting: unsupported,
                read: Webhook.init(_:))
        }
        guard !due.isEmpty else { return [] }
        return try await commit { database in
            try due.map(\.id.rawValue).compactMap { id in
                let isTaken = try database.run(
                    """
                    UPDATE webhooks SET holder = ?4, leased_until = ?3
                    WHERE id = ?1 AND (leased_until IS NULL OR leased_until <= ?2 OR leased_until > ?3)
                    """,
                    id, now.microseconds, later.microseconds, Data(holder.bytes))
                guard isTaken == 1, let id = WebhookIdentifier(id), let webhook = try database.webhook(id) else {
                    return nil
                }
                let resends = try database.all(
                    "SELECT seal FROM webhook_resends WHERE webhook_id = ? ORDER BY seal", id.rawValue
                ) { columns in Int(try columns.integer()) }
                return TakenWebhook(webhook, resends: resends)
            }
        }
    }

    /// Records what happened to an event, and returns true if the caller has the lease.
    public func settleWebhook(
        _ id: WebhookIdentifier, _ settlement: WebhookSettlement, by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool {
        let endings: DeclaredEndings = if case .disabled = settlement { .sometimes(.webhook) } else { .none }
        return try await commit(ending: endings) { database in
            guard try database.settle(id, settlement, by: Data(holder.bytes)) else { return false }
            return try database.answers(
                "SELECT EXISTS (SELECT 1 FROM webhooks WHERE id = ?1 AND holder = ?2)", id.rawValue,
                Data(holder.bytes)) == [true]
        }
    }

    /// Ends the lease of a webhook, if the caller has it.
    public func returnWebhook(
        _ id: WebhookIdentifier, by holder: LeaseHolder, at time: Date
    ) async throws(StoreFault) {
        _ = try await commit { database in
            try database.run(
                """
                UPDATE webhooks SET holder = NULL, leased_until = NULL,
                    due_at = CASE WHEN due_at < ?3 THEN ?3 ELSE due_at END
                WHERE id = ?1 AND holder = ?2
                """,
                id.rawValue, Data(holder.bytes), time.microseconds)
        }
    }

    /// Reads the last attempts, newest first.
    public func webhookDeliveries(
        of id: WebhookIdentifier, before number: Int?, limit: Int
    ) async throws(StoreFault) -> [WebhookDelivery] {
        try await read { database in
            try database.all(
                """
                SELECT number, seal, event_id, type, at, milliseconds, status, failure, is_resend
                FROM webhook_deliveries WHERE webhook_id = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3
                """,
                id.rawValue, number ?? Int.max, limit
            ) { columns in
                WebhookDelivery(
                    number: Int(try columns.integer()),
                    attempt: WebhookAttempt(
                        seal: Int(try columns.integer()), eventID: try columns.text(), type: try columns.text(),
                        at: try columns.date(), milliseconds: Int(try columns.integer()),
                        status: try columns.optionalInteger().map(Int.init), failure: try columns.optionalText(),
                        isResend: try columns.flag()))
            }
        }
    }
}

extension SQLConnection {
    /// Records what happened to an event; returns false if there is no such webhook.
    fileprivate func settle(
        _ id: WebhookIdentifier, _ settlement: WebhookSettlement, by holder: Data
    ) throws -> Bool {
        guard try answers("SELECT EXISTS (SELECT 1 FROM webhooks WHERE id = ?)", id.rawValue) == [true] else {
            return false
        }
        switch settlement {
        case .passed(let former, let cursor, let attempt):
            let moves = """
                UPDATE webhooks SET sent_through = ?3, failures = 0, failing_since = NULL
                WHERE id = ?1 AND sent_through = ?2
                """
            if let attempt {
                // The receiver has the event, also if the caller has lost the lease.
                try send(moves, id.rawValue, former, cursor)
                try record(attempt, of: id)
            } else {
                // Without the lease, the caller may have passed over events of types that the webhook has got since.
                try send(moves + " AND holder = ?4", id.rawValue, former, cursor, holder)
            }
        case .missed(let seal):
            try send(
                "UPDATE webhooks SET missed_through = ?2 WHERE id = ?1 AND holder = ?3", id.rawValue, seal, holder)
        case .failed(let attempt, let retryAt):
            try send(
                """
                UPDATE webhooks SET failures = failures + 1, failing_since = coalesce(failing_since, ?3), due_at = ?4
                WHERE id = ?1 AND holder = ?2
                """,
                id.rawValue, holder, attempt.at.microseconds, retryAt.microseconds)
            try record(attempt, of: id)
        case .disabled(let state, let attempt, let event):
            let isDisabled = try run(
                """
                UPDATE webhooks SET state = ?3, failures = failures + 1,
                    failing_since = coalesce(failing_since, ?4), revision = revision + 1, holder = NULL,
                    leased_until = NULL
                WHERE id = ?1 AND holder = ?2 AND state = 'active'
                """,
                id.rawValue, holder, state.rawValue, attempt.at.microseconds)
            try record(attempt, of: id)
            if isDisabled == 1 { try append(event) }
        case .resent(let attempt):
            try send("DELETE FROM webhook_resends WHERE webhook_id = ?1 AND seal = ?2", id.rawValue, attempt.seal)
            try record(attempt, of: id)
        }
        return true
    }

    /// Adds an attempt to the deliveries of a webhook, and deletes those beyond the limit.
    private func record(_ attempt: WebhookAttempt, of id: WebhookIdentifier) throws {
        try send(
            """
            INSERT INTO webhook_deliveries
                (webhook_id, seal, event_id, type, at, milliseconds, status, failure, is_resend)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            id.rawValue,
            attempt.seal,
            attempt.eventID,
            attempt.type,
            attempt.at.microseconds,
            attempt.milliseconds,
            attempt.status,
            attempt.failure,
            attempt.isResend
        )
        try send(
            """
            DELETE FROM webhook_deliveries WHERE webhook_id = ?1 AND number <= (
                SELECT number FROM webhook_deliveries WHERE webhook_id = ?1
                ORDER BY number DESC LIMIT 1 OFFSET \(Webhook.deliveryLimit)
            )
            """,
            id.rawValue)
    }
}

extension Webhook {
    /// The query for the webhooks that have something to send at the time ?1, the one that waits longest first.
    ///
    /// A lease that ends after ?2 is from before the clock was set back.
    static let due = """
        SELECT \(columns) FROM webhooks
        WHERE (leased_until IS NULL OR leased_until <= ?1 OR leased_until > ?2)
            AND ((
                state = 'active' AND due_at <= ?1
                AND sent_through < coalesce((SELECT max(number) FROM audit_seals), 0)
            ) OR EXISTS (SELECT 1 FROM webhook_resends WHERE webhook_resends.webhook_id = webhooks.id))
        ORDER BY due_at, id
        """
}

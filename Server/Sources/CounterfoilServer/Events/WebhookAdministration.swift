@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The changes of webhooks that administrators make, on pages, at the command line and with tokens.
///
/// Each change is one commit with its event. All take the same drafts, so they cannot differ.
package struct WebhookAdministration: Sendable {
    /// The default hours for which a replaced secret still signs.
    package static let overlapHours = 24
    /// The hours for which a replaced secret may sign.
    package static let overlaps = 0...168

    private let store: any UncachedStore
    private let serverKey: ServerKey
    private let time: Date
    private let event: @Sendable (AuditEvent.Kind, String) -> AuditEvent
    private let count: @Sendable ([AuditEvent]) -> Void

    /// Creates the changes for one command or request.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - serverKey: The key that encrypts the secrets.
    ///   - time: The time of the changes, by the clock of the store.
    ///   - event: Creates an event that names who makes the change.
    ///   - count: Counts the events that a commit has appended.
    package init(
        _ store: any UncachedStore, serverKey: ServerKey, at time: Date,
        recording event: @escaping @Sendable (AuditEvent.Kind, String) -> AuditEvent,
        counting count: @escaping @Sendable ([AuditEvent]) -> Void = { _ in }
    ) {
        self.store = store
        self.serverKey = serverKey
        self.time = time
        self.event = event
        self.count = count
    }

    /// Adds a webhook, which gets the events from now on, with a secret that is shown once.
    package func add(
        _ draft: WebhookDraft, random: RandomBytes = RandomBytes()
    ) async throws -> (webhook: Webhook, secret: WebhookSecret) {
        let checked = try draft.checked()
        let (id, secret) = (WebhookIdentifier(random: random), WebhookSecret(random: random))
        let webhook = Webhook(
            id: id, url: checked.url, label: checked.label, types: checked.types,
            sealedSecret: try serverKey.seal(webhookSecret: secret.bytes, of: id), createdAt: time,
            cursor: try await EventReader(store, serverKey: serverKey).end())
        let events = [event(.setting, "created the webhook \(id)").named(.webhookCreated)]
        guard try await store.addWebhook(webhook, recording: events) == .added else {
            throw WebhookRefusal([WebhookDraft.FieldProblem(nil, .tooMany, ["limit": .number(Webhook.limit)])])
        }
        count(events)
        return (webhook, secret)
    }

    /// Changes the URL, the label and the types of a webhook, if it is still as it was read.
    ///
    /// - Returns: False if it was deleted meanwhile.
    package func change(_ former: Webhook, to draft: WebhookDraft) async throws -> Bool {
        let checked = try draft.checked()
        var webhook = former
        (webhook.url, webhook.label, webhook.types) = (checked.url, checked.label, checked.types)
        let changed = [
            ("URL", webhook.url != former.url), ("label", webhook.label != former.label),
            ("types", webhook.types != former.types),
        ].filter(\.1).map(\.0)
        return try await update(
            former, to: webhook, "changed the webhook \(former.id): \(changed.joined(separator: ", "))",
            .webhookChanged)
    }

    /// Pauses a webhook; its events wait in the audit log.
    package func pause(_ former: Webhook) async throws -> Bool {
        var webhook = former
        webhook.state = .paused
        return try await update(former, to: webhook, "paused the webhook \(former.id)", .webhookChanged)
    }

    /// Continues a webhook that is paused or disabled, with the event at which it stopped.
    package func resume(_ former: Webhook) async throws -> Bool {
        var webhook = former
        webhook.state = .active
        return try await update(former, to: webhook, "resumed the webhook \(former.id)", .webhookChanged)
    }

    /// Replaces the secret of a webhook; the former one signs beside it for some hours.
    ///
    /// - Returns: The new secret, which is shown once; nil if the webhook was deleted meanwhile.
    package func replaceSecret(
        of former: Webhook, overlapping hours: Int = WebhookAdministration.overlapHours,
        random: RandomBytes = RandomBytes()
    ) async throws -> WebhookSecret? {
        let secret = WebhookSecret(random: random)
        var webhook = former
        webhook.sealedSecret = try serverKey.seal(webhookSecret: secret.bytes, of: former.id)
        webhook.formerSecret =
            hours == 0
            ? nil
            : Webhook.FormerSecret(
                sealed: former.sealedSecret, until: time.addingTimeInterval(TimeInterval(hours) * 3600))
        let isReplaced = try await update(
            former, to: webhook, "replaced the secret of the webhook \(former.id)", .webhookSecretReplaced)
        return isReplaced ? secret : nil
    }

    /// Deletes a webhook; returns false if it was deleted meanwhile.
    package func delete(_ webhook: Webhook) async throws(StoreFault) -> Bool {
        let events = [event(.setting, "deleted the webhook \(webhook.id)").named(.webhookDeleted)]
        guard try await store.removeWebhook(webhook.id, recording: events) else { return false }
        count(events)
        return true
    }

    /// Moves a webhook to the first event at a time or later; returns false if it was deleted meanwhile.
    ///
    /// A time before the event that is due sends events again, and a later one leaves events out.
    package func replay(_ webhook: Webhook, since start: Date) async throws(StoreFault) -> Bool {
        let cursor = try await EventReader(store, serverKey: serverKey).cursor(since: start)
        let events = [
            event(.setting, "continues the webhook \(webhook.id) with events since \(Moment.text(start))")
                .named(.webhookChanged)
        ]
        guard try await store.moveWebhook(webhook.id, to: cursor, at: time, recording: events) else { return false }
        count(events)
        return true
    }

    /// Queues an event of a delivery to be sent again, once and in whatever state the webhook is.
    package func resend(_ seal: Int, to webhook: Webhook) async throws(StoreFault) -> ResendEventOutcome {
        let events = [
            event(.setting, "sends an event to the webhook \(webhook.id) again").named(.webhookChanged)
        ]
        let outcome = try await store.resendEvent(seal, to: webhook.id, recording: events)
        if outcome == .queued { count(events) }
        return outcome
    }

    private func update(
        _ former: Webhook, to webhook: Webhook, _ detail: String, _ action: AuditEvent.Action
    ) async throws -> Bool {
        let events = [event(.setting, detail).named(action)]
        switch try await store.updateWebhook(webhook, from: former, at: time, recording: events) {
        case .updated:
            count(events)
            return true
        case .changedMeanwhile: throw WebhookRefusal([WebhookDraft.FieldProblem(nil, .changedMeanwhile)])
        case .notFound: return false
        }
    }
}

extension ServerComponents {
    /// Returns the changes that an administrator makes in one request.
    package func webhookAdministration(
        by administrator: UserIdentifier, in request: IncomingRequest, now: Date
    ) -> WebhookAdministration {
        WebhookAdministration(
            store, serverKey: serverKey, at: now,
            recording: { [auditor] kind, detail in
                auditor.event(kind, by: request, user: administrator, detail: detail, now: now)
            },
            counting: { [auditor] in auditor.countRecorded($0) })
    }
}

import CounterfoilProtocol
public import Foundation

/// The webhooks, their progress in the audit log, and their last deliveries.
///
/// HTTP has no commit that covers two systems. A server leases a webhook, sends the event after its cursor, and moves
/// the cursor. If it ends in between, the event is sent a second time, with the same identifier.
public protocol WebhookStore: Sendable {
    /// Reads every webhook, in the order of their creation.
    func webhooks() async throws(StoreFault) -> [Webhook]
    /// Reads a webhook; nil if there is none.
    func webhook(_ id: WebhookIdentifier) async throws(StoreFault) -> Webhook?
    /// Adds a webhook.
    func addWebhook(_ webhook: Webhook, recording events: [AuditEvent]) async throws(StoreFault) -> AddWebhookOutcome
    /// Changes the registration, the secrets and the state of a webhook, if its revision is still that of `former`.
    ///
    /// A webhook that becomes active is due at `time`, without failures. The progress is not changed otherwise. The
    /// lease ends, so that a server which sends to the webhook as it was stops after its attempt.
    func updateWebhook(
        _ webhook: Webhook, from former: Webhook, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateWebhookOutcome
    /// Moves the cursor of a webhook, which is due at `time` then, without failures; returns false if there is none.
    func moveWebhook(
        _ id: WebhookIdentifier, to cursor: Int, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Deletes a webhook with its deliveries; returns false if there is none.
    func removeWebhook(_ id: WebhookIdentifier, recording events: [AuditEvent]) async throws(StoreFault) -> Bool
    /// Queues the event with the seal of a number to be sent again, in whatever state the webhook is.
    func resendEvent(
        _ seal: Int, to id: WebhookIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ResendEventOutcome
    /// Takes at most `limit` webhooks that are due and not at the end of the log, or have events to send again, so that
    /// no other caller takes them before `later`. A webhook with a value that this version does not know is left out.
    func takeWebhooks(
        by holder: LeaseHolder, dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [TakenWebhook]
    /// Records what happened to an event.
    ///
    /// A cursor moves only from where the caller saw it, so the receiver of a webhook that was moved meanwhile gets the
    /// events from there.
    ///
    /// An accepted event counts also after the lease. Everything else needs it, but for the record of the attempt.
    ///
    /// - Returns: True if the caller still has the lease. It has none after a change of the webhook, and after
    ///   ``WebhookSettlement/disabled(_:_:_:)``.
    func settleWebhook(
        _ id: WebhookIdentifier, _ settlement: WebhookSettlement, by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool
    /// Ends the lease of a webhook, if the caller has it; the webhook is not due before `time`, so that those that
    /// wait for longer are taken first.
    func returnWebhook(_ id: WebhookIdentifier, by holder: LeaseHolder, at time: Date) async throws(StoreFault)
    /// Reads the last attempts, newest first.
    ///
    /// - Parameters:
    ///   - id: The webhook.
    ///   - number: The number of the attempt before which the others are; nil begins with the newest.
    ///   - limit: The maximum number of attempts.
    func webhookDeliveries(
        of id: WebhookIdentifier, before number: Int?, limit: Int
    ) async throws(StoreFault) -> [WebhookDelivery]
    /// Returns the number of the seal before the first event at a time or later; nil if there is no such event.
    func seal(before time: Date) async throws(StoreFault) -> Int?
    /// Reads the encrypted identifiers of deleted users by their pseudonyms (``RemovalTerms/sealedUserID``).
    ///
    /// The deletion of a user keeps the identifier for a week if there are webhooks, so that their receivers get it.
    func removedSubjects(of pseudonyms: Set<UserIdentifier>) async throws(StoreFault) -> [UserIdentifier: [UInt8]]
    /// Reads the progress of the webhooks.
    func webhookProgress() async throws(StoreFault) -> WebhookProgress
    /// Replaces the encrypted forms of the secrets of a webhook by others of the same ones, unless they have changed.
    func replaceWebhookSecrets(of former: Webhook, by webhook: Webhook) async throws(StoreFault)
}

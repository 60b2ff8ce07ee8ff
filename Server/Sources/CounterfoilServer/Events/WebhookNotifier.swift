@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import Logging

/// The service that posts the events of the audit log to webhooks (Standard Webhooks 1.0.0).
///
/// Each webhook gets its events one after the other, in the order of the log, and each until the receiver accepts it.
/// A slow receiver delays no other one. If several processes share one store, only one of them sends to a webhook at
/// a time. If it ends between the request and the commit, the event is sent a second time with the same `webhook-id`.
public struct WebhookNotifier: Sendable {
    /// The maximum number of webhooks to which events are sent at the same time.
    private static let width = 16
    /// The number of seconds for which only the process that has taken a webhook sends to it.
    private static let lease: TimeInterval = 90
    /// The time after which a process gives a webhook back, so that an attempt ends before the lease.
    private static let turn = Duration.seconds(45)
    /// The interval between two checks for due webhooks.
    private static let rest = Duration.seconds(2)

    let store: any UncachedStore
    let serverKey: ServerKey
    let sender: any WebhookSender
    let auditor: Auditor
    let random: RandomBytes
    let metrics: ServerMetrics
    let logger: Logger
    let clock: @Sendable () -> Date
    let wallClock: @Sendable () -> Date

    /// A webhook that this process has taken, with a holder of its own: after a change of the webhook, the process can
    /// take it again while the former turn waits for an answer.
    private struct Turn: Sendable {
        let taken: TakenWebhook
        let holder: LeaseHolder
        let end = ContinuousClock.now + WebhookNotifier.turn
        var goesOn: Bool { ContinuousClock.now < end && !Task.isCancelled }
    }

    /// Sends events until its task is cancelled.
    public func run() async {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let inFlight = InFlight()
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    wake.yield()
                    try? await Task.sleep(for: Self.rest)
                }
                wake.finish()
            }
            for await _ in wakes {
                for turn in await take(atMost: Self.width - inFlight.count.withLock { $0 }) {
                    inFlight.count.withLock { $0 += 1 }
                    group.addTask {
                        await deliver(in: turn)
                        inFlight.count.withLock { $0 -= 1 }
                        wake.yield()
                    }
                }
            }
        }
    }

    /// Sends what is due, to each webhook until it fails or has everything; returns the number of webhooks.
    @discardableResult
    package func deliverDue() async -> Int {
        let due = await take(atMost: Self.width)
        await withDiscardingTaskGroup { group in
            for turn in due { group.addTask { await deliver(in: turn) } }
        }
        return due.count
    }

    private final class InFlight: Sendable {
        let count = Mutex(0)
    }

    private func take(atMost limit: Int) async -> [Turn] {
        guard limit > 0 else { return [] }
        let (now, holder) = (clock(), LeaseHolder())
        do {
            return try await store.takeWebhooks(
                by: holder, dueAt: now, until: now.addingTimeInterval(Self.lease), limit: limit
            ).map { Turn(taken: $0, holder: holder) }
        } catch {
            logger.error("failed to read due webhooks", metadata: ["error": "\(error)"])
            return []
        }
    }

    private func deliver(in turn: Turn) async {
        let webhook = turn.taken.webhook
        do {
            guard try await resend(in: turn) else { return }
            if webhook.state == .active, webhook.dueAt <= clock() { try await proceed(in: turn) }
            try await store.returnWebhook(webhook.id, by: turn.holder, at: clock())
        } catch {
            // The lease ends by itself. Until then, the receiver does not get the same event again.
            logger.error(
                "failed to process a webhook", metadata: ["webhook": "\(webhook.id)", "error": "\(error)"])
        }
    }

    /// Sends the events after the cursor until one fails, the log ends, or the turn ends.
    private func proceed(in turn: Turn) async throws {
        let reader = EventReader(store, serverKey: serverKey)
        var webhook = turn.taken.webhook
        let omitted = webhook.types.isEmpty ? EventType.ofStrangers : []
        while turn.goesOn {
            let page = try await reader.read(after: webhook.cursor, types: Set(webhook.types), omitting: omitted)
            if let missed = page.missedThrough, missed > webhook.missedThrough ?? 0 {
                try await note(missed, of: &webhook, by: turn.holder)
            }
            for event in page.events {
                guard try await send(event, to: &webhook, by: turn.holder), turn.goesOn else { return }
            }
            if page.cursor > webhook.cursor {
                guard
                    try await store.settleWebhook(
                        webhook.id, .passed(from: webhook.cursor, to: page.cursor, nil), by: turn.holder)
                else { return }
                webhook.cursor = page.cursor
            }
            if !page.hasMore { return }
        }
    }

    private func note(_ missed: Int, of webhook: inout Webhook, by holder: LeaseHolder) async throws {
        metrics.count(.webhookEventsMissed)
        logger.error(
            "events were deleted from the audit log before a webhook got them", metadata: ["webhook": "\(webhook.id)"])
        _ = try await store.settleWebhook(webhook.id, .missed(through: missed), by: holder)
        webhook.missedThrough = missed
    }

    /// Sends one event, and records the outcome; returns true if the next one may follow.
    private func send(
        _ event: EventDocument, to webhook: inout Webhook, by holder: LeaseHolder
    ) async throws -> Bool {
        let now = clock()
        let (outcome, duration) = try await attempt(event, to: webhook)
        guard let attempt = record(outcome, of: event, to: webhook, at: now, after: duration) else { return false }
        if attempt.isDelivered {
            metrics.count(.webhookDelivered)
            let former = webhook.cursor
            webhook.cursor = event.cursor
            (webhook.failures, webhook.failingSince) = (0, nil)
            return try await store.settleWebhook(
                webhook.id, .passed(from: former, to: event.cursor, attempt), by: holder)
        }
        metrics.count(.webhookFailed)
        let wait: Int? = if case .answered(_, let seconds) = outcome { seconds } else { nil }
        let decision = WebhookRetries.decision(
            after: attempt, of: webhook, askedToWait: wait, jitter: Double(random.bytes(1)[0]) / 255)
        log(attempt, of: webhook, isLast: decision.retryAt == nil)
        if let retryAt = decision.retryAt {
            _ = try await store.settleWebhook(webhook.id, .failed(attempt, retryAt: retryAt), by: holder)
        } else {
            metrics.count(.webhookDisabled)
            let disabled = AuditEvent(
                at: now, .setting, detail: "disabled the webhook \(webhook.id), \(decision.state.rawValue)",
                action: .webhookDisabled)
            _ = try await store.settleWebhook(webhook.id, .disabled(decision.state, attempt, disabled), by: holder)
            auditor.countRecorded(disabled)
        }
        return false
    }

    /// Sends events that administrators want sent again, each once; returns false if the lease has ended.
    private func resend(in turn: Turn) async throws -> Bool {
        let reader = EventReader(store, serverKey: serverKey)
        let webhook = turn.taken.webhook
        func settle(_ attempt: WebhookAttempt) async throws(StoreFault) -> Bool {
            try await store.settleWebhook(webhook.id, .resent(attempt), by: turn.holder)
        }
        for seal in turn.taken.resends where turn.goesOn {
            let now = clock()
            guard let event = try await reader.event(seal) else {
                let deleted = WebhookAttempt(
                    seal: seal, eventID: "", type: "", at: now, milliseconds: 0, status: nil, failure: "deleted",
                    isResend: true)
                guard try await settle(deleted) else { return false }
                continue
            }
            let (outcome, duration) = try await attempt(event, to: webhook)
            guard let attempt = record(outcome, of: event, to: webhook, at: now, after: duration, isResend: true)
            else { return true }
            metrics.count(attempt.isDelivered ? .webhookDelivered : .webhookFailed)
            guard try await settle(attempt) else { return false }
        }
        return true
    }

    /// Posts an event once.
    private func attempt(
        _ event: EventDocument, to webhook: Webhook
    ) async throws -> (outcome: WebhookOutcome?, duration: Duration) {
        guard let secrets = serverKey.secrets(of: webhook, at: clock()) else {
            logger.error(
                "failed to decrypt the secret of a webhook; it needs a server key that is not listed",
                metadata: ["webhook": "\(webhook.id)"])
            return (nil, .zero)
        }
        let request = try WebhookRequest(
            event, to: webhook.url, at: wallClock(), with: secrets, party: "webhook \(webhook.id)")
        let start = ContinuousClock.now
        let outcome = await sender.send(request)
        return (outcome, ContinuousClock.now - start)
    }

    /// Returns the record of an attempt; nil if it was not made, or was cut off by the end of this process.
    private func record(
        _ outcome: WebhookOutcome?, of event: EventDocument, to webhook: Webhook, at time: Date,
        after duration: Duration, isResend: Bool = false
    ) -> WebhookAttempt? {
        let (status, failure): (Int?, String?)
        switch outcome {
        case .notTried: return nil
        case nil: (status, failure) = (nil, "server-key")
        case .answered(let code, _): (status, failure) = (code, nil)
        case .failed(let reason):
            if Task.isCancelled { return nil }
            (status, failure) = (nil, reason.word)
        }
        return WebhookAttempt(
            seal: event.cursor, eventID: event.id, type: event.type.rawValue, at: time,
            milliseconds: Int(duration / .milliseconds(1)), status: status, failure: failure, isResend: isResend)
    }

    private func log(_ attempt: WebhookAttempt, of webhook: Webhook, isLast: Bool) {
        logger.notice(
            "failed to send an event, \(isLast ? "disabled the webhook" : "will retry")",
            metadata: [
                "webhook": "\(webhook.id)", "event": "\(attempt.eventID)", "attempt": "\(webhook.failures + 1)",
                "outcome": "\(attempt.status.map(String.init) ?? attempt.failure ?? "none")",
            ])
    }
}

extension OutboundFailure {
    /// The failure as the deliveries of a webhook have it, such as `timed-out`.
    package var word: String { rawValue.split(separator: ".").last.map(String.init) ?? rawValue }

    /// Creates the failure with a word; nil if there is none.
    package init?(word: String) {
        guard let failure = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = failure
    }
}

extension ServerKey {
    /// Decrypts the secrets of a webhook that sign at a time, the current one first; nil if that is not possible.
    func secrets(of webhook: Webhook, at time: Date) -> [WebhookSecret]? {
        guard let current = try? open(webhookSecret: webhook.sealedSecret, of: webhook.id).bytes else { return nil }
        let former = webhook.formerSecret.flatMap { former in
            time < former.until ? try? open(webhookSecret: former.sealed, of: webhook.id).bytes : nil
        }
        return [current, former].compactMap(\.self).map { WebhookSecret(bytes: $0) }
    }
}

import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on webhooks.
    static let webhooks: [AdministrationOperation] = [
        AdministrationOperation(
            "listWebhooks", .get, "/webhooks", .readEvents, query: ["limit", "cursor"],
            answer: .list(WebhookDocument.self)
        ) { call in
            try call.page(
                of: try await call.store.webhooks(), list: "webhooks", id: { $0.id.rawValue },
                as: { WebhookDocument($0) })
        },
        AdministrationOperation(
            "createWebhook", .post, "/webhooks", .writeEvents, body: NewWebhookBody.self,
            answer: .object(WebhookDocument.self), status: .created, Webhooks.create),
        AdministrationOperation(
            "getWebhook", .get, "/webhooks/{webhook}", .readEvents, answer: .object(WebhookDocument.self)
        ) { call in try AdministrationAnswer(webhook: try await call.webhook()) },
        AdministrationOperation(
            "changeWebhook", .patch, "/webhooks/{webhook}", .writeEvents, body: ChangedWebhookBody.self,
            answer: .object(WebhookDocument.self), isConditional: true, Webhooks.change),
        AdministrationOperation("deleteWebhook", .delete, "/webhooks/{webhook}", .writeEvents) { call in
            let webhook = try await call.webhook()
            try await call.requireMatchIfSent { try WebhookDocument.version(of: webhook) }
            guard try await call.webhooks.delete(webhook) else { throw NotFoundError() }
            return .none
        },
        AdministrationOperation(
            "listWebhookDeliveries", .get, "/webhooks/{webhook}/deliveries", .readEvents, query: ["limit", "cursor"],
            answer: .list(WebhookDeliveryDocument.self), Webhooks.deliveries),
        AdministrationOperation(
            "pauseWebhook", .post, "/webhooks/{webhook}/pause", .writeEvents, answer: .object(WebhookDocument.self),
            Webhooks.pause),
        AdministrationOperation(
            "resumeWebhook", .post, "/webhooks/{webhook}/resume", .writeEvents, answer: .object(WebhookDocument.self)
        ) { call in
            let webhook = try await call.webhook()
            return try await call.done(webhook) { try await call.webhooks.resume(webhook) }
        },
        AdministrationOperation(
            "replaceWebhookSecret", .post, "/webhooks/{webhook}/secret", .writeEvents, body: WebhookSecretBody.self,
            answer: .object(WebhookSecretDocument.self), status: .created, Webhooks.replaceSecret),
        AdministrationOperation(
            "replayWebhook", .post, "/webhooks/{webhook}/replay", .writeEvents, body: WebhookReplayBody.self,
            answer: .object(WebhookDocument.self)
        ) { call, body in
            guard let start = Moment.parse(body.since, at: call.now, in: .gmt) else {
                throw ProblemError.invalidMembers([.member("since", "It must be \(Moment.searchForms).")])
            }
            let webhook = try await call.webhook()
            return try await call.done(webhook) { try await call.webhooks.replay(webhook, since: start) }
        },
        AdministrationOperation(
            "resendWebhookEvent", .post, "/webhooks/{webhook}/resend", .writeEvents, body: WebhookResendBody.self,
            status: .accepted, Webhooks.resend),
    ]
}

/// The functions of the operations on webhooks.
private enum Webhooks {
    static func create(_ call: AdministrationCall, _ body: NewWebhookBody) async throws -> AdministrationAnswer {
        var draft = WebhookDraft()
        body.change.write(into: &draft)
        do {
            let (webhook, secret) = try await call.webhooks.add(draft, random: call.components.random)
            return try AdministrationAnswer(
                webhook: webhook, newSecret: secret, location: call.url("/webhooks/\(webhook.id)"))
        } catch let refusal as WebhookRefusal { throw ProblemError(refusal) }
    }

    static func change(_ call: AdministrationCall, _ body: ChangedWebhookBody) async throws -> AdministrationAnswer {
        let former = try await call.webhook()
        try call.requireMatch(try WebhookDocument.version(of: former))
        var draft = WebhookDraft(former)
        body.change.write(into: &draft)
        return try await call.done(former) {
            do { return try await call.webhooks.change(former, to: draft) } catch let refusal as WebhookRefusal {
                throw refusal.says(.changedMeanwhile) ? ProblemError.changedMeanwhile : ProblemError(refusal)
            }
        }
    }

    static func deliveries(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let webhook = try await call.webhook().id
        let (cursor, limit) = (ListCursor(call, list: "deliveries \(webhook)"), try call.query.limit())
        let last = try cursor.position(in: call.query).flatMap { Int($0) }
        let found = try await call.store.webhookDeliveries(of: webhook, before: last, limit: limit + 1)
        let shown = found.prefix(limit)
        return try AdministrationAnswer(
            list: shown.map { WebhookDeliveryDocument($0) },
            next: found.count > limit ? try shown.last.map { try cursor.text(after: "\($0.number)") } : nil)
    }

    static func pause(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let webhook = try await call.webhook()
        switch webhook.state {
        case .active: return try await call.done(webhook) { try await call.webhooks.pause(webhook) }
        // A request that is sent twice has the same answer.
        case .paused: return try AdministrationAnswer(webhook: webhook)
        case .gone, .failing:
            throw ProblemError.conflict("webhook-disabled", nil, "The server has disabled the webhook already.")
        }
    }

    static func replaceSecret(
        _ call: AdministrationCall, _ body: WebhookSecretBody
    ) async throws -> AdministrationAnswer {
        let former = try await call.webhook()
        do {
            let secret = try await call.webhooks.replaceSecret(
                of: former, overlapping: body.overlapHours, random: call.components.random)
            guard let secret else { throw NotFoundError() }
            return try AdministrationAnswer(WebhookSecretDocument(id: former.id.rawValue, secret: secret.exposed))
        } catch let refusal as WebhookRefusal { throw ProblemError(refusal) }
    }

    static func resend(_ call: AdministrationCall, _ body: WebhookResendBody) async throws -> AdministrationAnswer {
        let webhook = try await call.webhook()
        let deliveries = try await call.store.webhookDeliveries(
            of: webhook.id, before: nil, limit: Webhook.deliveryLimit)
        guard let delivery = deliveries.first(where: { $0.attempt.eventID == body.event }) else {
            throw ProblemError.conflict(
                "no-delivery",
                .member("event", "None of the last \(Webhook.deliveryLimit) deliveries is of the event."))
        }
        switch try await call.webhooks.resend(delivery.attempt.seal, to: webhook) {
        case .queued: return .none
        case .notFound: throw NotFoundError()
        case .queueFull:
            throw ProblemError.conflict(
                "queue-full", nil, "\(Webhook.resendLimit) events wait to be sent again; try again later.")
        }
    }
}

extension AdministrationCall {
    /// The changes of webhooks that the caller makes.
    fileprivate var webhooks: WebhookAdministration {
        WebhookAdministration(
            store, serverKey: components.serverKey, at: now, recording: { event($0, detail: $1) },
            counting: { components.auditor.countRecorded($0) })
    }

    /// Returns the webhook in the path; throws 404 if there is none.
    fileprivate func webhook() async throws -> Webhook {
        guard let id = WebhookIdentifier(try segment("webhook")), let webhook = try await store.webhook(id) else {
            throw NotFoundError()
        }
        return webhook
    }

    /// Returns the answer to a change, with the webhook as it is stored after it; throws 404 if it was deleted.
    fileprivate func done(
        _ webhook: Webhook, _ change: () async throws -> Bool
    ) async throws -> AdministrationAnswer {
        do {
            guard try await change(), let changed = try await store.webhook(webhook.id) else { throw NotFoundError() }
            return try AdministrationAnswer(webhook: changed)
        } catch let refusal as WebhookRefusal { throw ProblemError(refusal) }
    }
}

extension AdministrationAnswer {
    fileprivate init(webhook: Webhook, newSecret: WebhookSecret? = nil, location: String? = nil) throws {
        try self.init(
            WebhookDocument(webhook, newSecret: newSecret), version: try WebhookDocument.version(of: webhook),
            location: location)
    }
}

extension WebhookRefusal {
    fileprivate func says(_ reason: WebhookDraft.FieldProblem.Reason) -> Bool {
        problems.contains { $0.text.key == reason.rawValue }
    }
}

extension ProblemError {
    fileprivate init(_ refusal: WebhookRefusal) {
        if refusal.says(.changedMeanwhile) {
            self = .conflict("changed-meanwhile", nil, "The webhook was changed at the same time; try again.")
        } else if refusal.says(.tooMany) {
            self = .conflict(
                "too-many-webhooks", nil, "There are \(Webhook.limit) webhooks already; delete one first.")
        } else {
            self = .invalidMembers(refusal.problems.map { .named($0.field?.rawValue, Localizer.english($0.text)) })
        }
    }
}

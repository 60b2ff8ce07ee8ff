import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/webhooks/webhook`: a webhook with its last deliveries, and the forms that change its state.
struct WebhookAccount: Sendable {
    let console: Console

    private typealias Problem = WebhookDraft.FieldProblem

    /// The number of deliveries on a page.
    private static let limit = 50
    /// The name of the field with the time of a replay.
    private static let since = "since"

    /// The values of the form field `decision`.
    private enum Decision: String {
        case pause, resume, secret, replay, resend
    }

    /// A problem with a form of the page.
    private enum Message: String, LocalizationKey {
        case notATime = "webhooks.not-a-time"
        case queueFull = "webhooks.queue-full"
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        try await page(exchange, of: try await console.webhook(exchange))
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let webhook = try await console.webhook(exchange)
        let (form, _) = try console.form(exchange)
        let decision = Decision(rawValue: try form.value("decision"))
        let administration = console.webhookAdministration(by: exchange)
        // A second submission of a form must not replace the secret again.
        guard try decision == .resend || Int(form.value("revision")) == webhook.revision else {
            return try await page(exchange, of: webhook, problem: Problem(nil, .changedMeanwhile))
        }
        do {
            switch decision {
            case .pause: return try done(try await administration.pause(webhook), .paused, webhook)
            case .resume: return try done(try await administration.resume(webhook), .resumed, webhook)
            case .secret:
                let secret = try await administration.replaceSecret(of: webhook, random: console.random)
                guard let secret, let changed = try await console.store.webhook(webhook.id) else {
                    throw NotFoundError()
                }
                return try await page(exchange, of: changed, newSecret: secret)
            case .replay:
                let typed = try form.value(Self.since)
                guard let start = Moment.parse(typed, at: exchange.now, in: .gmt) else {
                    return try await page(
                        exchange, of: webhook, problem: Problem(nil, Message.notATime), typedSince: typed)
                }
                return try done(
                    try await administration.replay(webhook, since: start),
                    webhook.state == .active ? .replayed : .replayedLater, webhook)
            case .resend: return try await resend(form, webhook, exchange)
            case nil: throw PageProblem.noDecision
            }
        } catch let refusal as WebhookRefusal {
            return try await page(exchange, of: webhook, problem: refusal.problems.first)
        }
    }

    private func resend(_ form: PageForm, _ webhook: Webhook, _ exchange: Console.Exchange) async throws -> Reply {
        guard let number = Int(try form.value("delivery")), number > 0, number < .max else { throw NotFoundError() }
        let delivery = try await console.store.webhookDeliveries(of: webhook.id, before: number + 1, limit: 1).first
        guard let delivery, delivery.number == number else { throw NotFoundError() }
        let administration = console.webhookAdministration(by: exchange)
        switch try await administration.resend(delivery.attempt.seal, to: webhook) {
        case .queued: return try done(true, .resent, webhook)
        case .notFound: throw NotFoundError()
        case .queueFull: return try await page(exchange, of: webhook, problem: Problem(nil, Message.queueFull))
        }
    }

    private func done(_ isDone: Bool, _ notice: WebhookNotice, _ webhook: Webhook) throws -> Reply {
        guard isDone else { throw NotFoundError() }
        return console.done(notice, of: webhook)
    }

    func page(
        _ exchange: Console.Exchange, of webhook: Webhook, newSecret: WebhookSecret? = nil,
        problem: WebhookDraft.FieldProblem? = nil, typedSince: String? = nil
    ) async throws -> Reply {
        let words = exchange.words
        let before = exchange.queried("before").flatMap { Int($0) }
        let found = try await console.store.webhookDeliveries(of: webhook.id, before: before, limit: Self.limit + 1)
        let deliveries = Array(found.prefix(Self.limit))
        let action = console.path(.webhook, of: webhook.id)
        let said = problem.map { words($0.text) }
        let isTimeWrong = typedSince != nil
        let page = WebhookPage(
            console: console.head(exchange, in: .administration),
            notice: exchange.notice(WebhookNotice.self),
            problems: said.map { [FormProblem($0, field: isTimeWrong ? Self.since : nil)] } ?? [],
            label: DisplayName(webhook.label), url: webhook.url.rawValue, id: webhook.id.rawValue,
            state: WebhookStateBadge(webhook, words),
            types: WebhookTypes(of: webhook),
            created: words.moment(webhook.createdAt),
            failingSince: webhook.failingSince.map { words.moment($0) },
            nextAttempt: webhook.state == .active && webhook.failures > 0 ? words.moment(webhook.dueAt) : nil,
            formerSecretUntil: webhook.formerSecret.flatMap { exchange.now < $0.until ? words.moment($0.until) : nil },
            hasMissed: webhook.missedThrough != nil, newSecret: newSecret?.exposed,
            deliveries: deliveries.map { delivery($0, words) },
            older: found.count > Self.limit ? deliveries.last.map { "\(action)&before=\($0.number)" } : nil,
            isActive: webhook.state == .active,
            since: FormField(Self.since, typedSince ?? "", problem: isTimeWrong ? said : nil),
            action: action, ticket: console.ticket(exchange, for: action), revision: webhook.revision,
            editPath: console.path(.editWebhook, of: webhook.id),
            deletePath: console.path(.deleteWebhook, of: webhook.id), listPath: console.path(.webhooks))
        return Reply(problem == nil ? .ok : isTimeWrong ? .badRequest : .conflict, .page(page))
    }

    private func delivery(_ delivery: WebhookDelivery, _ words: Localizer) -> WebhookPage.Delivery {
        let attempt = delivery.attempt
        return WebhookPage.Delivery(
            number: delivery.number, time: words.moment(attempt.at), universalTime: Moment.text(attempt.at),
            event: attempt.eventID, type: attempt.type,
            result: attempt.status.map(String.init) ?? attempt.failure ?? "", isDelivered: attempt.isDelivered,
            milliseconds: attempt.milliseconds, isResend: attempt.isResend, canBeResent: !attempt.eventID.isEmpty)
    }
}

import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/webhooks` and the forms below it: the receivers of events.
struct WebhookRegistry: Sendable {
    let console: Console

    private typealias Problem = WebhookDraft.FieldProblem

    func list(_ exchange: Console.Exchange) async throws -> Reply {
        let page = WebhooksPage(
            console: console.head(exchange, in: .administration),
            paths: AdministrationPaths(console, exchange, at: .webhooks),
            notice: exchange.notice(WebhookNotice.self), newPath: console.path(.newWebhook),
            rows: try await console.store.webhooks().map { webhook in
                WebhooksPage.Row(
                    label: DisplayName(webhook.label), url: webhook.url.rawValue,
                    types: WebhookTypes(of: webhook),
                    state: WebhookStateBadge(webhook, exchange.words),
                    path: console.path(.webhook, of: webhook.id))
            })
        return Reply(.ok, .page(page))
    }

    func showNew(_ exchange: Console.Exchange) -> Reply { form(exchange, WebhookDraft(), of: nil) }

    func add(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let draft = try WebhookDraft(form)
        if let delay { return self.form(exchange, draft, of: nil, problems: [Problem(nil, delay)]) }
        do {
            let (webhook, secret) = try await console.webhookAdministration(by: exchange)
                .add(draft, random: console.random)
            return try await WebhookAccount(console: console).page(exchange, of: webhook, newSecret: secret)
        } catch let refusal as WebhookRefusal {
            return self.form(exchange, draft, of: nil, problems: refusal.problems)
        }
    }

    func showEdit(_ exchange: Console.Exchange) async throws -> Reply {
        let webhook = try await console.webhook(exchange)
        return form(exchange, WebhookDraft(webhook), of: webhook)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let webhook = try await console.webhook(exchange)
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let draft = try WebhookDraft(form)
        func again(_ problems: [Problem], _ status: HTTPResponse.Status = .badRequest) -> Reply {
            self.form(exchange, draft, of: webhook, problems: problems, status: status)
        }
        guard Int(try form.value("revision")) == webhook.revision else {
            return again([Problem(nil, .changedMeanwhile)], .conflict)
        }
        if let delay { return again([Problem(nil, delay)]) }
        do {
            guard try await console.webhookAdministration(by: exchange).change(webhook, to: draft) else {
                throw NotFoundError()
            }
        } catch let refusal as WebhookRefusal {
            let isConflict = refusal.problems.contains { $0.field == nil }
            return again(refusal.problems, isConflict ? .conflict : .badRequest)
        }
        return console.done(.saved, of: webhook)
    }

    func askToDelete(_ exchange: Console.Exchange) async throws -> Reply {
        let webhook = try await console.webhook(exchange)
        let action = console.path(.deleteWebhook, of: webhook.id)
        let page = DeleteRecordPage(
            console: console.head(exchange, in: .administration), webhook: DisplayName(webhook.label), uses: [],
            hasMore: false, action: action, ticket: console.ticket(exchange, for: action),
            cancelPath: console.path(.webhook, of: webhook.id), listPath: console.path(.webhooks))
        return Reply(.ok, .page(page))
    }

    func delete(_ exchange: Console.Exchange) async throws -> Reply {
        let webhook = try await console.webhook(exchange)
        _ = try console.form(exchange)
        guard try await console.webhookAdministration(by: exchange).delete(webhook) else { throw NotFoundError() }
        return .done(WebhookNotice.deleted, at: console.path(.webhooks))
    }

    private func form(
        _ exchange: Console.Exchange, _ draft: WebhookDraft, of webhook: Webhook?, problems: [Problem] = [],
        status: HTTPResponse.Status? = nil
    ) -> Reply {
        let words = exchange.words
        func problem(_ field: WebhookDraft.Field) -> String? {
            let said = problems.filter { $0.field == field }.map { words($0.text) }
            return said.isEmpty ? nil : said.joined(separator: " ")
        }
        let action = webhook.map { console.path(.editWebhook, of: $0.id) } ?? console.path(.newWebhook)
        let page = WebhookFormPage(
            console: console.head(exchange, in: .administration),
            problems: problems.map { FormProblem(words($0.text), field: $0.field?.rawValue) },
            webhook: webhook.map { DisplayName($0.label) },
            url: FormField(WebhookDraft.Field.url.rawValue, draft.url, problem: problem(.url)),
            label: FormField(WebhookDraft.Field.label.rawValue, draft.label, problem: problem(.label)),
            types: FormChoices(
                WebhookDraft.Field.types.rawValue,
                EventType.allCases.map {
                    FormChoices.Choice(
                        $0.rawValue, label: $0.rawValue, isChosen: draft.types.contains($0.rawValue))
                }, problem: problem(.types)),
            omittedTypes: EventType.ofStrangers.map(\.rawValue).sorted().joined(separator: " "),
            action: action, ticket: console.ticket(exchange, for: action), revision: webhook?.revision ?? 0,
            cancelPath: webhook.map { console.path(.webhook, of: $0.id) } ?? console.path(.webhooks))
        return Reply(status ?? (problems.isEmpty ? .ok : .badRequest), .page(page))
    }
}

/// The confirmations that the pages of webhooks show after a form was submitted.
enum WebhookNotice: String, LocalizationKey, Notice {
    case saved = "webhooks.notice.saved"
    case deleted = "webhooks.notice.deleted"
    case paused = "webhooks.notice.paused"
    case resumed = "webhooks.notice.resumed"
    case replayed = "webhooks.notice.replayed"
    case replayedLater = "webhooks.notice.replayed-later"
    case resent = "webhooks.notice.resent"
}

/// The names of the states of a webhook.
enum WebhookStateName: String, LocalizationKey {
    case active = "webhooks.state.active"
    case retrying = "webhooks.state.retrying"
    case paused = "webhooks.state.paused"
    case gone = "webhooks.state.gone"
    case failing = "webhooks.state.failing"
}

extension WebhookStateBadge {
    init(_ webhook: Webhook, _ words: Localizer) {
        let name: WebhookStateName =
            switch webhook.state {
            case .active: webhook.failures > 0 ? .retrying : .active
            case .paused: .paused
            case .gone: .gone
            case .failing: .failing
            }
        self.init(
            name: words(name), isGood: name == .active,
            isDisabled: webhook.state == .gone || webhook.state == .failing)
    }
}

extension Console {
    /// Returns the changes of webhooks that an administrator makes in one request.
    func webhookAdministration(by exchange: Exchange) -> WebhookAdministration {
        webhookChanges(exchange.user.id, exchange.request, exchange.now)
    }

    /// Returns the webhook that the query names; throws `NotFoundError` if there is none.
    func webhook(_ exchange: Exchange) async throws -> Webhook {
        guard let id = exchange.queried("webhook").flatMap(WebhookIdentifier.init(_:)),
            let webhook = try await store.webhook(id)
        else { throw NotFoundError() }
        return webhook
    }

    /// Redirects to the page of a webhook, which shows a confirmation.
    func done(_ notice: WebhookNotice, of webhook: Webhook) -> Reply {
        .seeOther(
            path(.webhook, of: webhook.id) + "&" + FormParameters([Reply.noticeParameter: notice.code]).encoded)
    }

    /// Returns the path of a page about a webhook.
    func path(_ endpoint: Endpoint, of webhook: WebhookIdentifier) -> String {
        path(endpoint) + "?" + FormParameters(["webhook": webhook.rawValue]).encoded
    }
}

extension WebhookDraft {
    fileprivate init(_ form: PageForm) throws {
        self.init()
        url = try form.value(Field.url.rawValue)
        label = try form.value(Field.label.rawValue)
        types = form.all(Field.types.rawValue)
    }
}

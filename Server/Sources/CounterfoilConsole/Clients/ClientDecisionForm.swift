import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// `/apps/{client_id}/approval`: the forms in which administrators approve, suspend and resume a client.
struct ClientDecisionForm: Sendable {
    let console: Console

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        try await page(exchange, of: try await client(exchange))
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await client(exchange)
        let (form, _, delay) = try await console.formOrDelay(exchange)
        guard let submitted = ClientDecisionPage.Decision(rawValue: try form.value("decision")) else {
            throw PageProblem.noDecision
        }
        var reason = FormField("reason", try form.value("reason"))
        func again(_ problem: some Localized, field: String? = nil, _ status: HTTPResponse.Status) async throws
            -> Reply
        {
            let text = exchange.words(problem)
            if field == reason.name { reason.problem = text }
            return try await page(
                exchange, of: client, problems: [FormProblem(text, field: field)], reason: reason, submitted: submitted,
                status: status)
        }
        if let delay { return try await again(delay, .badRequest) }
        let decision: ClientDecision
        let notice: ClientNotice
        switch submitted {
        case .approve:
            guard client.canBeApproved, let revision = Int(try form.value("revision")) else {
                throw PageProblem.noDecision
            }
            decision = .approve(revision: revision)
            notice = client.letsEveryoneIn ? .approved : .approvedAlone
        case .suspend:
            guard let text = ClientSuspension.reason(reason.value) else {
                return try await again(DecisionMessage.reasonWrong, field: reason.name, .badRequest)
            }
            decision = .suspend(reason: text)
            notice = .suspended
        case .resume:
            decision = .resume
            notice = .resumed
        }
        switch try await console.clients(by: exchange).decide(decision, on: client.id) {
        case .decided:
            console.logger.notice(
                "decided about a client",
                metadata: [
                    "client_id": "\(client.id)", "decision": "\(submitted.rawValue)", "user": "\(exchange.user.id)",
                    "request": "\(exchange.request.id)",
                ])
        // Another administrator was faster, or the form was sent twice.
        case .alreadyDecided: break
        case .changedMeanwhile: return try await again(ClientProblem.Reason.changedMeanwhile, .conflict)
        case .notFound: throw NotFoundError()
        }
        return .done(notice, at: console.path(.clientDecision, of: client.id))
    }

    /// Returns the client in the path, which can be unregistered.
    private func client(_ exchange: Console.Exchange) async throws -> RegisteredClient {
        guard let id = exchange.request.parameters.clientID,
            let client = try await console.registry.fresh().client(id)
        else { throw NotFoundError() }
        return client
    }

    private func page(
        _ exchange: Console.Exchange, of client: RegisteredClient, problems: [FormProblem] = [],
        reason: FormField = FormField("reason"), submitted: ClientDecisionPage.Decision? = nil,
        status: HTTPResponse.Status = .ok
    ) async throws -> Reply {
        let action = console.path(.clientDecision, of: client.id)
        let isRegistered = !client.isUnregistered
        var approvable: ClientDecisionPage.Approvable?
        if client.canBeApproved, !client.isApproved {
            let reserved = try await console.reservedScope()
            approvable = ClientDecisionPage.Approvable(
                publisher: client.presentation.publisher.map { DisplayName($0) },
                redirectURIs: client.redirectURIs.map(\.rawValue),
                permissions: client.scope.tokens.map { token in
                    ClientDecisionPage.Approvable.Permission(
                        scope: token.rawValue, isReserved: isRegistered && reserved.contains(token))
                })
        }
        let page = ClientDecisionPage(
            console: console.head(exchange, in: console.part(of: client, exchange)),
            notice: exchange.notice(ClientNotice.self),
            problems: problems,
            client: console.summary(client, exchange),
            paths: isRegistered ? console.paths(of: client, at: .decision, exchange) : nil,
            backPath: console.path(isRegistered ? .client : .unregisteredClient, of: client.id),
            approval: client.canBeApproved ? exchange.words(DecisionMessage(approvalOf: client)) : nil,
            approvable: approvable,
            users: console.use(try await console.store.use(of: client.id), of: client, exchange)?.users,
            suspension: client.suspension.map {
                exchange.words(
                    LocalizedText(
                        DecisionMessage.suspendedSince, ["date": .date($0.at), "reason": .text($0.reason)]))
            },
            reason: reason,
            submitted: submitted,
            action: action,
            ticket: console.ticket(exchange, for: action),
            revision: client.revision)
        return Reply(status, .page(page))
    }
}

/// The texts of the page that depend on the client.
private enum DecisionMessage: String, LocalizationKey {
    case approved = "decision.state-approved"
    case open = "decision.state-open"
    case unapproved = "decision.state-unapproved"
    case development = "decision.state-development"
    case pending = "decision.state-pending"
    case suspendedSince = "decision.suspended-since"
    case reasonWrong = "decision.reason-wrong"

    init(approvalOf client: RegisteredClient) {
        self =
            switch client.approval {
            case _ where client.isApproved: .approved
            case .approved: .approved
            case .open: client.letsEveryoneIn ? .open : .unapproved
            case .development: .development
            case .pending: .pending
            }
    }
}

extension RegisteredClient {
    /// Whether an approval changes anything; the policy alone decides about a client with a document.
    fileprivate var canBeApproved: Bool { documentHost == nil }

    /// Whether every user can sign in with an approval: it has users, it is not suspended, and no policy decides.
    fileprivate var letsEveryoneIn: Bool { type != .service && suspension == nil && !isUnregistered }
}

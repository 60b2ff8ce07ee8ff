import CounterfoilProtocol
import Foundation

/// Where the consent page sends what was decided.
struct ConsentEndpoint: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    let sessions: SessionKeeper

    /// What the person decided; wire name `decision`.
    private enum Decision: String {
        case allow
        case deny
        case switchAccount = "switch"
    }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        do { return try await decide(request, now: now) } catch let refused as AuthorizationFlow.Refused {
            return pages.goOn(with: refused)
        }
    }

    private func decide(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: flow.settings.issuer)
        let carried = try form.value("request")
        guard let session = try await sessions.current(request, now: now) else {
            // The session has ended meanwhile: the person signs in and is asked again.
            return .seeOther(pages.authorizationURL(carried: carried))
        }
        let ticket = try form.checkTicket(.consent, of: session.holder, with: pages.tickets, now: now)
        guard let decision = Decision(rawValue: try form.value("decision")) else { throw PageProblem.noDecision }
        let authorization = try await flow.receive(try form.carriedRequest())

        switch decision {
        case .allow:
            let url = try await flow.approve(authorization, by: session, interaction: ticket.interaction, now: now)
            return pages.goOn(to: url, authorization.client, kind: .allowed)
        case .deny:
            throw flow.refusal(OAuthError(.accessDenied, "the person did not allow it"), of: authorization)
        case .switchAccount:
            let cookie = try await sessions.end(session)
            return .seeOther(pages.authorizationURL(carried: carried)).setting(cookie)
        }
    }
}

import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The endpoint for the form with which a user answers the request of a device (RFC 8628 §3.3).
struct DeviceConsentEndpoint: Sendable {
    let flow: DeviceFlow
    let pages: DevicePages
    let sessions: SessionManager

    /// The decision of the user, the form field `decision`.
    private enum Decision: String {
        case allow
        case deny
        case switchAccount = "switch"
    }

    var handlers: [EndpointHandler] { [EndpointHandler(.deviceConsent, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: flow.settings.issuer)
        guard let code = try? UserCode(typed: try form.pendingRequestParameters().single("user_code") ?? "") else {
            throw PageProblem.fromElsewhere
        }
        let again = flow.settings.issuer.deviceURL(with: code)
        guard let session = try await sessions.current(request, now: now) else {
            // The session has ended since the page was shown: the user signs in and is asked again.
            return .seeOther(again)
        }
        let ticket = try form.ticket(of: session, with: pages.questionTickets, again: again, now: now)
        guard let decision = Decision(rawValue: try form.value("decision")) else { throw PageProblem.noDecision }
        if decision == .switchAccount {
            let event = flow.auditor.event(.signOut, by: request, user: session.user.id, now: now)
            let cookie = try await sessions.end(session, recording: event, now: now)
            return .seeOther(again).setting(cookie).setting(sessions.cookies.noEarlierUser)
        }
        guard let exchange = try await flow.pending(code, on: request, now: now) else {
            return await over(request, session, now: now)
        }
        let client = exchange.access.client
        guard ticket.shown == ConsentSnapshot(exchange.access) else {
            throw ApprovalError.clientChanged(askAgain: again)
        }
        try pages.checkWebView(exchange)
        let granted = try decision == .allow ? form.granted(of: exchange.access) : Scope()
        // RFC 6749 §3.3: a user who deselects every permission denies the request.
        guard decision == .allow, !granted.isEmpty || exchange.access.asked.isEmpty else {
            let isDenied = try await flow.deny(exchange, by: session)
            return isDenied
                ? pages.afterAnswer(.denied, to: client, session: session, now: now)
                : await over(request, session, now: now)
        }
        let isApproved = try await flow.approve(
            exchange, granting: granted, by: session, signedInForThis: ticket.signedInForThis,
            interaction: ticket.interaction)
        return isApproved
            ? pages.afterAnswer(.allowed, to: client, session: session, now: now)
            : await over(request, session, now: now)
    }

    /// Returns the page for a code that is not pending any more.
    private func over(_ request: IncomingRequest, _ session: LiveSession, now: Date) async -> Reply {
        await flow.auditor.refuse(
            .browserRequest, because: .alreadyAnswered, request, user: session.user.id, now: now)
        return pages.over()
    }
}

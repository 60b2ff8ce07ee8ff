import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The page `/device`, `verification_uri` (RFC 8628 §3.3): the form for the code, the sign-in, the permissions, and the
/// result.
///
/// No GET request answers a device: even with the code in its URL, it shows a form (RFC 8628 §3.3.1).
struct DeviceEndpoint: Sendable {
    let flow: DeviceFlow
    let pages: DevicePages
    let sessions: SessionManager

    var handlers: [EndpointHandler] {
        [EndpointHandler(.device, respond), EndpointHandler(.deviceSignIn, signIn)]
    }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        switch request.head.method {
        case .post: try await receive(request, now: now)
        default: try await show(request, now: now)
        }
    }

    private func show(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let query = try? FormParameters(parsing: request.query)
        if let query, (try? query.single(DevicePages.answeredTicketParameter)) != nil,
            let session = try await sessions.current(request, now: now),
            let result = pages.result(in: query, session: session, now: now)
        {
            return result
        }
        let typed = (try? query?.single("user_code")) ?? ""
        guard let code = try? UserCode(typed: typed) else {
            return pages.code(typed.isEmpty ? "" : String(typed.prefix(64)), on: request, now: now)
        }
        guard let session = try await sessions.current(request, now: now),
            let ticket = try? query?.single(DevicePages.signedInParameter),
            let signedInForThis = [true, false].first(where: {
                pages.accepts(ticket, for: code, of: session, signedInForThis: $0, now: now)
            })
        else { return pages.code(code.description, on: request, now: now) }
        return try await ask(code, session: session, signedInForThis: signedInForThis, on: request, now: now)
    }

    private func receive(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: flow.settings.issuer)
        let typed = try form.value("user_code")
        let again = pages.address(FormParameters(["user_code": String(typed.prefix(64))]).encoded)
        guard let browser = pages.signInForm.browser(of: request) else {
            throw PageProblem.cookiesMissing(again: again)
        }
        try form.checkTicket(.deviceCode, of: browser.exposed, with: pages.tickets, again: again, now: now)
        let code: UserCode
        do { code = try UserCode(typed: typed) } catch {
            // Everyone can send a malformed code. So it is not of the kind with the guesses of signed-in users.
            await flow.auditor.refuse(
                .browserRequest, because: .userCode, request, user: await sessions.owner(of: request),
                detail: "malformed", now: now)
            return pages.code(String(typed.prefix(64)), again: .malformed(error), on: request, now: now)
        }
        guard let session = try await sessions.current(request, now: now) else {
            // The code is looked up after the sign-in only, so that every guess counts for a user.
            return try pages.signIn(DevicePages.pendingRequest(code), on: request, now: now)
        }
        return try await ask(code, session: session, on: request, now: now)
    }

    private func ask(
        _ code: UserCode, session: LiveSession, signedInForThis: Bool = false, on request: IncomingRequest, now: Date
    ) async throws -> Reply {
        if let terms = flow.settings.unacceptedTerms(of: session.user) {
            return pages.terms(terms, code, session: session, signedInForThis: signedInForThis, now: now)
        }
        return try await withExchange(of: code, for: session, on: request, now: now) { exchange in
            try await flow.checkApprover(of: exchange, session.user)
            if let confirmation = try await flow.confirmation(for: exchange, session) {
                return try await pages.stepUp(exchange, session: session, with: confirmation)
            }
            return try await pages.consent(exchange, session: session, signedInForThis: signedInForThis)
        }
    }

    /// Replies with the device of a code, within the rate limits of wrong codes.
    private func withExchange(
        of code: UserCode, for session: LiveSession, on request: IncomingRequest, now: Date,
        _ reply: (DeviceExchange) async throws -> Reply
    ) async throws -> Reply {
        switch try await flow.find(code, for: session.user, on: request, now: now) {
        case .found(let exchange): try await reply(exchange)
        case .refused(let again): pages.code(code.description, again: again, on: request, now: now)
        }
    }

    private func signIn(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let submission = try pages.signInForm.receive(request, now: now, at: pages.address)
        let confirmed = try await pages.signInForm.confirmed(submission)
        if try submission.form.value("cancel") == "true" {
            guard let confirmed else { return .seeOther(pages.address(submission.pendingRequest)) }
            let code = try code(of: submission)
            return try await withExchange(of: code, for: confirmed, on: request, now: now) { exchange in
                guard try await flow.deny(exchange, by: confirmed) else {
                    await flow.auditor.refuse(
                        .browserRequest, because: .alreadyAnswered, request, user: confirmed.user.id, now: now)
                    return pages.over()
                }
                return pages.afterAnswer(.denied, to: exchange.access.client, session: confirmed, now: now)
            }
        }
        switch try await pages.signInForm.attempt(submission) {
        case .again(let again):
            guard let confirmed else {
                return try pages.signIn(submission.pendingRequest, again: again, on: request, now: now)
            }
            let code = try code(of: submission)
            if case .tooLate = again { return try await ask(code, session: confirmed, on: request, now: now) }
            return try await withExchange(of: code, for: confirmed, on: request, now: now) { exchange in
                try await pages.stepUp(exchange, session: confirmed, with: .passkey, again: again)
            }
        case .signedIn(let session, let cookies, let codes, _):
            let lifetime = codes.isEmpty ? 60 : PendingSignIn.lifetime
            return pages.afterSignIn(submission.pendingRequest, session: session, within: lifetime, now: now)
                .showing(codes).setting(cookies)
        }
    }

    /// Returns the code in the form of a sign-in, which the browser can have changed.
    private func code(of submission: SignInForm.Submission) throws -> UserCode {
        let typed = try submission.form.pendingRequestParameters().single("user_code") ?? ""
        guard let code = try? UserCode(typed: typed) else { throw PageProblem.fromElsewhere }
        return code
    }
}

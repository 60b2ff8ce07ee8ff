import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The endpoint that the form of the sign-in page is posted to.
struct SignInEndpoint: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    let sessions: SessionKeeper
    let people: SignIn

    var handlers: [EndpointHandler] { [EndpointHandler(.signIn, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        do { return try await signIn(request, now: now) } catch let refused as AuthorizationFlow.Refused {
            return refused.page(issuer: flow.settings.issuer)
        }
    }

    private func signIn(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: flow.settings.issuer)
        let carried = try form.value("request")
        guard let browser = pages.browser(of: request) else { throw PageProblem.cookiesMissing }
        try form.checkTicket(.signIn, of: browser.exposed, with: pages.tickets, now: now)
        let authorization = try await flow.receiveAgain(try form.carriedRequest(), now: now)
        let visit = AuthorizationVisit(authorization: authorization, carried: carried, request: request, now: now)
        if let blocked = pages.blocked(visit) { return blocked }
        if try form.value("forget") == "true" {
            return pages.signIn(visit, earlier: nil).setting(pages.cookies.nobodyEarlier)
        }

        let name = try form.value("username")
        let outcome = try await people.attempt(
            name: name, password: try form.value("password"), source: request.countedSource(flow.settings.issuer),
            now: now)
        func again(_ problem: SignInPhrase, _ status: HTTPResponse.Status, retryAfter: Int? = nil) -> Reply {
            pages.signIn(
                visit, earlier: pages.earlierSignIns.of(request),
                after: .init(name: name, problem: request.words(problem), retryAfter: retryAfter, status: status))
        }
        switch outcome {
        case .refused(let person):
            await flow.auditor.note(
                .signIn, .refused, by: request, person: person, client: authorization.client.id, now: now)
            return again(.wrong, .badRequest)
        case .tooEarly(let seconds):
            await flow.auditor.note(
                .throttled, .refused, by: request, client: authorization.client.id, detail: "sign-in", now: now)
            return again(.tooManyAttempts, .tooManyRequests, retryAfter: seconds)
        case .signedIn(let person):
            guard let (session, cookie) = try await sessions.begin(for: person, replacing: request, now: now) else {
                return again(.wrong, .badRequest)
            }
            await flow.auditor.note(.signIn, by: request, person: person.id, client: authorization.client.id, now: now)
            return try await goOn(visit, session: session)
                .setting(cookie).setting(pages.earlierSignIns.remember(person))
        }
    }

    private func goOn(_ visit: AuthorizationVisit, session: LiveSession) async throws -> Reply {
        switch try await flow.next(for: visit, session: session, signedInForThis: true) {
        case .signIn, .askConsent, .confirm:
            return pages.afterSignIn(visit, session: session)
        case .answer(let session, _):
            return try await flow.approve(visit, by: session).page(.allowed, issuer: flow.settings.issuer)
        case .refuse(let error):
            throw flow.refusal(error, of: visit.authorization)
        }
    }
}

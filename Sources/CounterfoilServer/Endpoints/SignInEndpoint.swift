import CounterfoilProtocol
import Foundation
import HTTPTypes

/// Where the sign-in page sends what was typed.
struct SignInEndpoint: Sendable {
    let flow: AuthorizationFlow
    let pages: AuthorizationPages
    let sessions: SessionKeeper
    let people: SignIn

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        do { return try await signIn(request, now: now) } catch let refused as AuthorizationFlow.Refused {
            return pages.goOn(with: refused)
        }
    }

    private func signIn(_ request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try PageForm(request, issuer: flow.settings.issuer)
        let browser = request.cookie(pages.cookies.browserName).flatMap(BrowserToken.init)
        let carried = try form.value("request")
        guard let browser else { throw PageProblem.cookiesMissing }
        try form.checkTicket(.signIn, of: browser.exposed, with: pages.tickets, now: now)
        let authorization = try await flow.receive(try form.carriedRequest())

        let name = try form.value("username")
        let outcome = try await people.attempt(
            name: name, password: try form.value("password"), source: source(of: request), now: now)
        switch outcome {
        case .refused:
            return pages.signIn(
                authorization, carried: carried, browser: browser, name: name,
                problem: "The name or the password is not right.", status: .badRequest, now: now)
        case .tooEarly(let seconds):
            return pages.signIn(
                authorization, carried: carried, browser: browser, name: name,
                problem: "There were too many attempts.", retryAfter: seconds, status: .tooManyRequests, now: now)
        case .signedIn(let person):
            guard let (session, cookie) = try await sessions.begin(for: person, replacing: request, now: now) else {
                throw AuthorizationFlow.NotApproved.personGone
            }
            return try await goOn(authorization, carried: carried, session: session, now: now).setting(cookie)
        }
    }

    /// Whom to count failures against; nil behind a proxy on this machine, from which every connection comes.
    private func source(of request: IncomingRequest) -> String? {
        let isProxied = flow.settings.issuer.isSecure && ["127.0.0.1", "::1"].contains(request.source)
        return isProxied ? nil : request.source
    }

    private func goOn(
        _ authorization: ValidatedAuthorization,
        carried: String,
        session: LiveSession,
        now: Date
    ) async throws -> Reply {
        switch InteractionPolicy.next(for: authorization, session: session, signedInForThis: true, now: now) {
        case .signIn, .askConsent:
            return pages.afterSignIn(carried: carried, session: session, now: now)
        case .answer(let session):
            let interaction = InteractionIdentifier(random: pages.random)
            let url = try await flow.approve(authorization, by: session, interaction: interaction, now: now)
            return pages.goOn(to: url, authorization.client, kind: .allowed)
        case .refuse(let error):
            throw flow.refusal(error, of: authorization)
        }
    }
}

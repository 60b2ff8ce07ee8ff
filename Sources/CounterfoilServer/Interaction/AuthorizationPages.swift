import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The pages of an authorization, with the tickets that they carry.
struct AuthorizationPages: Sendable {
    let settings: ServerSettings
    let store: any ScopeStore
    let tickets: TicketAuthority
    let cookies: Cookies
    let random: RandomBytes

    /// The parameter that brings the proof of a sign-in from one page to the next.
    static let signedInParameter = "sign_in_ticket"

    /// The authorization request as pages carry it along: without what is ours.
    static func carried(_ form: FormParameters) -> String {
        FormParameters(form.pairs.filter { $0.name != signedInParameter }).encoded
    }

    /// The sign-in page; a browser that has no cookie of ours yet gets one.
    func signIn(
        _ authorization: ValidatedAuthorization,
        carried: String,
        browser: BrowserToken?,
        name: String? = nil,
        problem: String? = nil,
        retryAfter: Int? = nil,
        status: HTTPResponse.Status = .ok,
        now: Date
    ) -> Reply {
        let token = browser ?? BrowserToken(random: random)
        let ticket = tickets.issue(
            .signIn, to: token.exposed, request: carried,
            interaction: InteractionIdentifier(random: random), expires: pageEnd(now)
        )
        let page = SignInPage(
            siteName: settings.siteName,
            applicationName: authorization.client.displayName,
            action: settings.issuer.path + Endpoint.signIn.path,
            request: carried,
            ticket: ticket,
            username: name ?? authorization.request.loginHint ?? "",
            problem: problem,
            retryAfterSeconds: retryAfter
        )
        var reply = Reply(status, .page(.signIn(page)))
        if let retryAfter { reply.fields[.retryAfter] = String(retryAfter) }
        return reply.setting(browser == nil ? cookies.browser(token) : nil)
    }

    /// The consent page.
    func consent(
        _ authorization: ValidatedAuthorization,
        carried: String,
        session: LiveSession,
        now: Date
    ) async throws -> Reply {
        let words = Dictionary(
            try await store.scopes().map { ($0.token, $0.description) },
            uniquingKeysWith: { first, _ in first }
        )
        let action = settings.issuer.path + Endpoint.consent.path
        let page = ConsentPage(
            siteName: settings.siteName,
            applicationName: authorization.client.displayName,
            publisher: authorization.client.presentation.publisher.map { DisplayName($0) },
            redirectDestination: .init(authorization.redirectURI),
            personName: DisplayName(session.person.displayName, orElse: session.person.username.rawValue),
            personEmail: session.person.email.map { MaskedEmail($0.rawValue) },
            action: action,
            switchAccountAction: action,
            request: carried,
            ticket: tickets.issue(
                .consent, to: session.holder, request: carried,
                interaction: InteractionIdentifier(random: random), expires: pageEnd(now)
            ),
            permissions: authorization.scope.tokens.map { token in
                ConsentPage.Permission(scope: token.rawValue, title: words[token] ?? token.rawValue)
            },
            lifetime:
                "The access lasts \(Self.words(seconds: settings.accessTokenLifetime)); then it has to ask you again."
        )
        return Reply(.ok, .page(.consent(page)))
    }

    /// The way on from the sign-in page: a redirect within the server, with the proof that the person has just signed in.
    func afterSignIn(carried: String, session: LiveSession, now: Date) -> Reply {
        let ticket = tickets.issue(
            .signedIn, to: session.holder, request: carried,
            // It stands in a URL, and the browser follows it at once.
            interaction: InteractionIdentifier(random: random), expires: now.addingTimeInterval(60)
        )
        return .seeOther(authorizationURL(carried: carried) + "&\(Self.signedInParameter)=\(ticket)")
    }

    /// The address at which an authorization begins anew.
    func authorizationURL(carried: String) -> String {
        settings.issuer.endpoint(Endpoint.authorization.path) + "?" + carried
    }

    /// The page that carries an answer to the application.
    func goOn(to url: String, _ client: RegisteredClient, kind: GoOnPage.Kind) -> Reply {
        Reply(
            .ok,
            .page(
                .goOn(
                    GoOnPage(
                        siteName: settings.siteName, applicationName: client.displayName, destination: url, kind: kind)
                )
            )
        )
    }

    /// The page that tells an application that it was refused, where a form came before.
    func goOn(with refused: AuthorizationFlow.Refused) -> Reply {
        goOn(
            to: refused.url(issuer: settings.issuer), refused.client,
            kind: refused.error.code == .accessDenied ? .denied : .refused)
    }

    private func pageEnd(_ now: Date) -> Date { now.addingTimeInterval(TimeInterval(settings.pageLifetime)) }

    private static func words(seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(seconds) seconds"
        case ..<7200: seconds == 3600 ? "one hour" : "\(seconds / 60) minutes"
        case ..<172_800: "\(seconds / 3600) hours"
        default: "\(seconds / 86400) days"
        }
    }
}

extension LiveSession {
    /// What a ticket of this session is bound to.
    var holder: String { Base64URL.encode(digest.bytes) }
}

extension ConsentPage.RedirectDestination {
    init(_ uri: RedirectURI) {
        self =
            switch uri.kind {
            case .loopback(.localhost, _): .thisComputerByName
            case .loopback(let host, _): .thisComputer(host: host.rawValue)
            case .privateUseScheme(let scheme): .app(scheme: scheme)
            case .https(let host): .website(host: host)
            }
    }
}

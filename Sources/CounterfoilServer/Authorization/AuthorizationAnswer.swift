import CounterfoilProtocol
import HTTPTypes

/// An authorization response, its redirect URI and its response mode.
struct AuthorizationAnswer: Sendable {
    let response: AuthorizationResponse
    let redirectURI: RedirectURI
    let mode: ResponseMode
    let client: RegisteredClient

    /// Returns the HTTP response to a request for which the user saw no page: a redirect, or for `form_post` a page
    /// that submits its form at once.
    ///
    /// After a page with a form, `page(_:choosing:issuer:)` is used, because Chromium applies the CSP directive
    /// `form-action` to a redirect and would block it.
    func reply(_ kind: ReturnPage.Kind, issuer: Issuer) -> Reply {
        switch mode {
        case .query: .seeOther(response.url(to: redirectURI))
        case .fragment: .seeOther(response.url(toFragmentOf: redirectURI))
        case .formPost: page(kind, issuer: issuer)
        }
    }

    /// Returns the page that carries the authorization response: it continues automatically or, if `host` is
    /// given, when the user presses the button.
    func page(_ kind: ReturnPage.Kind, choosing host: String? = nil, issuer: Issuer) -> Reply {
        var page = ReturnPage(
            applicationName: client.displayName(at: .init(redirectURI, of: client.type)),
            applicationLogo: issuer.logoPath(of: client),
            destination: redirectURI.rawValue, kind: kind, host: host)
        switch mode {
        case .query: page.destination = response.url(to: redirectURI)
        case .fragment: page.destination = response.url(toFragmentOf: redirectURI)
        case .formPost:
            page.fields = response.parameters.pairs.map { ReturnPage.Field(name: $0.name, value: $0.value) }
        }
        return Reply(host == nil ? .ok : .badRequest, .page(page))
    }
}

extension VerifiedResponseTarget {
    /// Returns true if a response in a mode reaches the client at its redirect URI.
    ///
    /// A browser posts no form to a private-use scheme (OAuth 2.0 Form Post Response Mode §2). It sends no fragment to
    /// a server (RFC 3986 §3.5), so neither a web client nor the loopback listener of a native client would get it.
    /// The page of a single-page client reads it, and an app gets its whole URL from the platform.
    func takes(_ mode: ResponseMode) -> Bool {
        switch (mode, redirectURI.uri.kind) {
        case (.query, _), (.formPost, .loopback), (.formPost, .https): true
        case (.formPost, .privateUseScheme): false
        case (.fragment, .loopback): client.type == .singlePage
        case (.fragment, .https), (.fragment, .privateUseScheme): client.type != .web
        }
    }
}

import CounterfoilProtocol
import CounterfoilStore
import HTTPTypes

/// An authorization response, and the client that gets it at its redirect URI.
struct AuthorizationRedirect: Sendable {
    enum Result: Sendable {
        case code(AuthorizationCode)
        /// The user denied the request on a page of this server.
        case denied(OAuthError)
        /// The server refused the request; `because` is the store fault that is the cause, if there is one.
        case refused(OAuthError, because: StoreFault? = nil)
    }

    let result: Result
    let target: VerifiedResponseTarget
    /// The cookies that the HTTP response sets.
    var cookies: [String] = []

    init(_ result: Result, to target: VerifiedResponseTarget) {
        self.result = result
        self.target = target
    }

    /// The error in the response (RFC 6749 §4.1.2.1); nil if the response contains a code.
    var error: OAuthError? {
        switch result {
        case .code: nil
        case .denied(let error), .refused(let error, _): error
        }
    }

    /// The store fault that caused the error.
    var fault: StoreFault? { if case .refused(_, let fault) = result { fault } else { nil } }

    /// Returns the HTTP response to a request, which takes the browser to the client.
    ///
    /// The response is a redirect, or the page ``ReturnPage`` in three cases:
    /// - The request is the form of a page. Chromium applies the CSP directive `form-action` to a redirect and would
    ///   block it.
    /// - The response mode is `form_post`.
    /// - The user must press a button first (``needsChoice``).
    ///
    /// In a frame, the response is always a redirect (``VerifiedResponseTarget/isInFrame(_:)``).
    func reply(to request: IncomingRequest, isAfterForm: Bool, settings: ServerSettings) -> Reply {
        let (uri, isInFrame) = (target.redirectURI.uri, target.isInFrame(request))
        let (outcome, kind): (AuthorizationResponse.Outcome, ReturnPage.Kind) =
            switch result {
            case .code(let code): (.code(code), .allowed(codeLifetime: settings.codeLifetime))
            case .denied(let error): (.error(error), .denied)
            case .refused(let error, _): (.error(error), .refused)
            }
        let response = AuthorizationResponse(outcome, state: target.parsed.returnState, issuer: settings.issuer)
        let mode = isInFrame && target.mode == .formPost ? .query : target.mode
        let destination =
            switch mode {
            case .query: response.url(to: uri)
            case .fragment: response.url(toFragmentOf: uri)
            case .formPost: uri.rawValue
            }
        let host = needsChoice && !isInFrame ? uri.uri.host : nil
        guard isAfterForm || mode == .formPost || host != nil else {
            return .seeOther(destination).setting(cookies)
        }
        let page = ReturnPage(
            clientName: target.client.displayName(at: .init(uri, of: target.client.type)),
            clientLogo: settings.issuer.logoPath(of: target.client), destination: destination,
            fields: mode == .formPost ? response.parameters.pairs.map { .init(name: $0.name, value: $0.value) } : [],
            kind: kind, host: host)
        return Reply(host == nil ? .ok : .badRequest, .page(page)).setting(cookies)
    }

    /// Whether the user must press a button before the browser goes to the redirect URI.
    ///
    /// RFC 9700 §4.11.2: an attacker can send an invalid request, or one with `prompt=none`, to misuse this server as
    /// an open redirector. So the browser does not automatically go to the redirect URI of an untrusted client. A user
    /// who denied the request on a page of this server has already made a choice.
    private var needsChoice: Bool {
        switch result {
        case .code, .denied: false
        case .refused: !target.client.isReachedWithoutChoice(at: target.redirectURI.uri)
        }
    }
}

extension VerifiedResponseTarget {
    /// The response mode of the request; `query` if a response in that mode would not reach the client.
    fileprivate var mode: ResponseMode { takes(parsed.returnMode) ? parsed.returnMode : .query }

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

    /// Returns true for a request with `prompt=none` in a frame, as single-page clients send it to renew a sign-in.
    ///
    /// No page of this server can be shown in a frame, so every response to such a request that can go to the client
    /// goes there by a redirect, errors included (OpenID Connect Core §3.1.2.6). The protection against open
    /// redirectors is not needed: a frame cannot take the user from the page that contains it to another one.
    func isInFrame(_ request: IncomingRequest) -> Bool {
        // Fetch Metadata §2.1; a browser that does not say where it will show the response counts as no frame.
        guard parsed.forbidsPages, let name = HTTPField.Name("Sec-Fetch-Dest") else { return false }
        let destinations = request.head.headerFields[values: name]
        return destinations == ["iframe"] || destinations == ["frame"]
    }
}

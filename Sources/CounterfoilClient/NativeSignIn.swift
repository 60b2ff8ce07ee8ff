public import CounterfoilProtocol

/// A sign-in of a user through the system browser.
///
/// ```swift
/// let signIn = try NativeSignIn(
///     issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read",
///     apiOrigins: ["https://photos.example.com"])
/// let credentials = try await signIn.run()
/// let photos = try await ResourceClient(credentials).get("https://photos.example.com/photos")
/// ```
///
/// RFC 8252: the authorization code grant with PKCE in the user's own browser. The callback arrives on a loopback
/// port unless ``redirect`` is set to another option.
public struct NativeSignIn: Sendable {
    /// The issuer of the authorization server; the client fetches its metadata unless ``vendor`` is set.
    public var issuer: Issuer
    /// The `client_id` that the client has at each server, and the ways to obtain one at a new server.
    public var client: ClientIdentification
    /// The requested scope; an empty scope requests the server's default.
    public var scope: Scope
    /// The registered redirect URI to which the browser returns, with alternatives for systems that cannot use it.
    public var redirect = RedirectOption.loopback
    /// Optional request parameters, client authentication and token binding.
    public var options = Options()
    /// The demand of an API that the sign-in is to fulfil; nil unless ``init(steppingUp:to:)`` prepared the sign-in.
    ///
    /// Its ``StepUp/description`` tells the user why the browser opens.
    public internal(set) var demand: StepUp?
    /// The maximum time to wait for the callback; then the sign-in fails with ``SignInError/timedOut``.
    public var timeout = Duration.seconds(300)
    /// The server with its vendor profile, for a server that deviates from the standard.
    ///
    /// If it is nil, the client fetches the metadata of ``issuer``.
    public var vendor: VendorServer?
    /// The condition under which the client pushes the authorization request to the server (RFC 9126).
    public var par = PushedRequests.automatic
    /// Whether to ask the server about the client and the redirect URI while the browser is open.
    ///
    /// A server that does not know one of them shows an error page in the browser and does not redirect back, so the
    /// sign-in would only time out. If true, the client sends a copy of the authorization request with other random
    /// values and, with `openid`, `prompt=none`. If the response is an error page, it reports ``Event/rejected(_:)``.
    /// The sign-in continues nevertheless, because a firewall in front of the server could have sent the page.
    public var checksClient = false
    /// Whether to accept a server whose metadata do not announce PKCE.
    ///
    /// The client sends the code challenge in any case.
    public var skippingPKCEMetadataCheck = false
    /// Whether this process may use one redirect URI at several servers that do not send `iss`.
    ///
    /// If true, a malicious server could obtain codes that another of these servers issued (RFC 8252 §8.10). Servers
    /// that send `iss` in every response may always share a redirect URI.
    public var skippingRedirectURICheck = false
    /// The launcher that opens the browser; ``RedirectReceiver/browser`` takes precedence unless it is nil.
    public var browser: any BrowserLauncher = SystemBrowser()
    /// The HTTP client for all requests of the sign-in, except for those that the browser sends.
    public var transport: any HTTPTransport = .standard
    /// The record of the redirect URIs in use, each for one server only; this prevents mix-up attacks.
    package var redirectURIUses = RedirectURIUses.ofThisProcess

    /// The use of pushed authorization requests (PAR, RFC 9126).
    public enum PushedRequests: String, Sendable, Hashable, CaseIterable {
        /// The client pushes the request if the server announces the endpoint and a browser opens on this device.
        ///
        /// If the endpoint does not work or does not accept the client, and the server does not require pushed
        /// requests, the browser carries the request (RFC 9126 §5). If the user opens the URL by hand, perhaps on
        /// another device, the request is pushed only if the server requires it, because a pushed request expires
        /// within about a minute.
        case automatic
        /// The client always pushes the request; the sign-in fails if that is not possible.
        case always
        /// The browser carries the request; the sign-in fails if the server requires pushed requests.
        case never
    }

    /// An event of a sign-in; it contains no code and no token.
    public enum Event: Sendable, Hashable {
        /// The server's metadata were found and are valid.
        case discovered(AuthorizationServerConfiguration)
        /// The client has an identifier at the server; the second value is the way in which the client obtained it.
        case identified(ClientIdentifier, ClientIdentification.Origin)
        /// The client could not push the request for this reason, so the browser carries it.
        case notPushed(SignInError)
        /// The sign-in waits for the callback and is about to open the URL in the browser.
        ///
        /// Always show the URL to the user: the browser may fail to start, or start where the user cannot see it. A
        /// launcher may open a ``LocalStartURL`` that redirects the browser to this URL.
        case opening(BrowserURL)
        /// The URL of ``opening(_:)`` refers to a pushed request, and expires unless a browser opens it in this time
        /// (`expires_in`, RFC 9126 §2.2).
        case pushed(lifetime: Duration)
        /// The launcher has tried to open the browser; if it failed, the user has to open the URL.
        case browser(BrowserLaunch)
        /// The server rejects such a request with an error page, so the browser will probably not return.
        ///
        /// The text is safe to show to users. The event occurs only if ``NativeSignIn/checksClient`` is true.
        case rejected(String)
        /// The callback with the expected `state` arrived; the sign-in checks the rest of it next.
        case answered
        /// The token response contained these optional members with invalid values, which count as absent
        /// (RFC 6749 §5.1).
        case membersIgnored([String])
        /// The code was exchanged for tokens.
        case exchanged
    }

    /// Prepares a sign-in for a client that is registered at the server.
    public init(issuer: Issuer, clientID: ClientIdentifier, scope: Scope = Scope()) {
        self.init(issuer: issuer, client: ClientIdentification(clientID, at: issuer), scope: scope)
    }

    /// Prepares a sign-in for a client that may have to obtain an identifier from the server first.
    public init(issuer: Issuer, client: ClientIdentification, scope: Scope = Scope()) {
        self.issuer = issuer
        self.client = client
        self.scope = scope
    }

    /// Prepares a sign-in at a vendor's server, with the loopback redirect URI of its profile, if it has one.
    ///
    /// If `scope` is empty, the sign-in requests the default scope of the profile.
    public init(at vendor: VendorServer, clientID: ClientIdentifier, scope: Scope = Scope()) {
        self.init(at: vendor, client: ClientIdentification(clientID, at: vendor.issuer), scope: scope)
    }

    /// Prepares a sign-in at a vendor's server for a client that may have to obtain an identifier first.
    public init(at vendor: VendorServer, client: ClientIdentification, scope: Scope = Scope()) {
        self.init(issuer: vendor.issuer, client: client, scope: scope)
        self.vendor = vendor
        if scope.isEmpty, let usual = try? Scope(lenient: vendor.profile.defaultScope) { self.scope = usual }
        if let registered = vendor.profile.redirect.loopback, let uri = try? LoopbackRedirectURI(registered) {
            // Only the vendor's own server requires its ports.
            redirect = .loopback(vendor.isVendorsOwn ? uri.tryingPorts(vendor.profile.redirect.ports) : uri)
        }
    }

    /// Prepares a sign-in from strings; throws ``SignInError/unusable(_:)`` if one of them is invalid.
    ///
    /// `apiOrigins` are the origins of the APIs to which the token may be sent, such as `https://photos.example.com`;
    /// see ``Options/apiOrigins``.
    public init(
        issuer: String, clientID: String, scope: String = "", apiOrigins: [String] = []
    ) throws(SignInError) {
        let server: Issuer
        do { server = try Issuer(ofServer: issuer) } catch { throw .unusable("the issuer cannot be used: \(error)") }
        guard let clientID = ClientIdentifier(clientID) else {
            throw .unusable("the client ID is empty or contains invalid characters")
        }
        let wanted: Scope
        do { wanted = try Scope(lenient: scope) } catch { throw .unusable("\(error)") }
        self.init(issuer: server, clientID: clientID, scope: wanted)
        do {
            options.apiOrigins = Set(try apiOrigins.map { text throws(APIOrigin.Refusal) in try APIOrigin(text) })
        } catch {
            throw .unusable("\(error)")
        }
    }

    /// Opens the browser, waits for the user, and exchanges the code.
    ///
    /// Every run generates a new state, nonce and code verifier. The redirect receiver listens only while this function
    /// runs. If the task is cancelled, the function throws ``SignInError/cancelled``.
    ///
    /// If the server has forgotten an earlier registration of the client, the function registers the client again and
    /// starts over, once.
    ///
    /// If the client cannot receive a callback at one redirect URI, the function starts over with the next one of
    /// ``redirect`` (RFC 8252 §7.2). Some systems say so only when the page is to be opened, so that
    /// ``Event/opening(_:)`` can occur for each of them. It also occurs a second time if the browser does not start and
    /// the request was pushed, with a URL that does not expire.
    public func run(
        onEvent report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws(SignInError) -> Credentials {
        let redirects = try redirect.eachUsable()
        try ServerBehavior.check(tokenParameters: options.tokenParameters, details: options.details)
        let configuration = try await configuration()
            .adding(tokenParameters: options.tokenParameters, details: options.details)
        try options.checkAdditionalParameters(at: configuration.behavior)
        try options.checkBinding(at: configuration)
        if par == .never, configuration.requiresPushedRequests {
            throw .unusable("\(configuration.issuer) requires pushed authorization requests")
        }
        report(.discovered(configuration))
        var failure = SignInError.cannotListen("no redirect option was given")
        for redirect in redirects {
            var signIn = self
            signIn.redirect = redirect
            do throws(SignInError) { return try await signIn.signIn(at: configuration, report: report) } catch {
                guard case .cannotListen = error else { throw error }
                failure = error
            }
        }
        throw failure
    }

    private func signIn(
        at configuration: AuthorizationServerConfiguration, report: @escaping @Sendable (Event) -> Void
    ) async throws(SignInError) -> Credentials {
        try await SignInAttempt.credentials { () async throws(SignInError) in
            try await attempt(at: configuration, report: report)
        }
    }

    private func attempt(
        at configuration: AuthorizationServerConfiguration, report: @escaping @Sendable (Event) -> Void
    ) async throws(SignInError) -> SignInAttempt {
        let receiver = try await redirect(at: configuration).listen()
        let known: IdentifiedClient
        do throws(SignInError) { known = try await identified(at: configuration, for: receiver.redirectURI) } catch {
            await receiver.close()
            throw error
        }
        report(.identified(known.id, known.origin))
        do throws(SignInError) {
            let code: ValidatedCode
            do throws(SignInError) {
                code = try await authorize(known, at: configuration, through: receiver, report: report)
            } catch {
                await receiver.close()
                throw error
            }
            await receiver.close()
            let credentials = try await AuthorizationCodeExchange(transport: transport)
                .exchange(code) { report(.membersIgnored($0)) }
            report(.exchanged)
            return .signedIn(credentials.completed(by: known, options, at: configuration))
        } catch {
            if await client.forget(known, at: issuer, after: error) { return .forgotten(error) }
            throw error
        }
    }

    /// Returns the redirect option with a path for the server if responses of several servers could be mixed up.
    ///
    /// RFC 9700 §4.4.2. The client can choose the path only if it registers the redirect URI itself.
    private func redirect(at configuration: AuthorizationServerConfiguration) -> RedirectOption {
        guard client.registersItself(at: configuration), RedirectURIUses.separates(configuration) else {
            return redirect
        }
        return redirect.separated(for: configuration.issuer)
    }

    private var requestedScope: Scope { options.requestedScope(scope) }

    private func identified(
        at server: AuthorizationServerConfiguration, for redirectURI: RedirectURI
    ) async throws(SignInError) -> IdentifiedClient {
        try await client.client(
            at: server, authentication: options.authentication, redirectURIs: redirect.registrable(redirectURI),
            grantTypes: options.keepsRefreshToken ? ["authorization_code", "refresh_token"] : ["authorization_code"],
            scope: requestedScope, through: transport)
    }

    private func configuration() async throws(SignInError) -> AuthorizationServerConfiguration {
        try await MetadataDiscovery(transport: transport).configuration(
            of: issuer, or: vendor, forOpenID: scope.contains(.openID),
            skippingPKCEMetadataCheck: skippingPKCEMetadataCheck)
    }

    private func attempt(
        of known: IdentifiedClient, at configuration: AuthorizationServerConfiguration, _ redirectURI: RedirectURI,
        silently: Bool = false
    ) -> AuthorizationAttempt {
        var options = options
        options.authentication = known.authentication
        // `prompt=none` is defined only for OpenID Connect requests (OpenID Connect Core §3.1.2.1).
        if silently { options.prompt = scope.contains(.openID) ? [.none] : [] }
        return AuthorizationAttempt(
            at: configuration, clientID: known.id, redirectURI: redirectURI, scope: requestedScope, options: options)
    }

    /// The outcome of a push.
    private struct Pushed {
        /// The time in which the browser must open it; nil if the server does not say it.
        let lifetime: Duration?
    }

    /// Pushes the request if the client should; returns nil if the browser carries it.
    private func push(
        _ attempt: inout AuthorizationAttempt, of known: IdentifiedClient,
        at server: AuthorizationServerConfiguration, for launcher: any BrowserLauncher,
        report: @Sendable (Event) -> Void
    ) async throws(SignInError) -> Pushed? {
        // A URL that the user opens by hand must not expire before the sign-in stops waiting.
        let isWorthwhile = server.pushedAuthorizationRequestEndpoint != nil && !launcher.isOutOfReach
        guard par == .always || (par == .automatic && (isWorthwhile || server.requiresPushedRequests)) else {
            return nil
        }
        do throws(SignInError) {
            return Pushed(lifetime: try await attempt.push(through: transport))
        } catch {
            guard par == .automatic, !server.requiresPushedRequests, error.permitsPlainRequest else { throw error }
            // A client that registered earlier was accepted then, so the server has probably forgotten it.
            if case .registeredEarlier = known.origin, case .refused = error { throw error }
            report(.notPushed(error))
            return nil
        }
    }

    private func authorize(
        _ known: IdentifiedClient,
        at configuration: AuthorizationServerConfiguration,
        through receiver: any RedirectReceiver,
        report: @escaping @Sendable (Event) -> Void
    ) async throws(SignInError) -> ValidatedCode {
        if !skippingRedirectURICheck { try redirectURIUses.claim(receiver.redirectURI, for: configuration) }
        var attempt = attempt(of: known, at: configuration, receiver.redirectURI)
        let launcher = receiver.browser ?? browser
        let plain = par == .automatic && !configuration.requiresPushedRequests ? attempt.authorizationURL : nil
        let pushed = try await push(&attempt, of: known, at: configuration, for: launcher, report: report)
        let url: BrowserURL
        do { url = try BrowserURL(attempt.authorizationURL) } catch {
            throw .unusable("the authorization request is too long for a browser: \(error)")
        }
        let probe = AuthorizationProbe(
            url: self.attempt(of: known, at: configuration, receiver.redirectURI, silently: true).authorizationURL,
            redirectURI: receiver.redirectURI, transport: transport)
        if pushed == nil, case .registeredEarlier = known.origin, let rejection = await probe.rejection() {
            // Registering again costs little. Otherwise the user would see an error page and the sign-in would time
            // out.
            throw .refused(OAuthError(.invalidClient, rejection))
        }
        receiver.expect(attempt.expectation)
        report(.opening(url))
        if let lifetime = pushed?.lifetime { report(.pushed(lifetime: lifetime)) }
        // For a browser that does not start: a pushed request would expire before the user has opened it by hand. A
        // receiver with a browser of its own gets no callback from another one.
        let lasting = pushed == nil || receiver.browser != nil ? nil : plain.flatMap { try? BrowserURL($0) }
        // The browser process may run until the user closes the browser. Do not wait for it after the callback.
        let launch = Task {
            let outcome = await launcher.open(url, startingAt: receiver)
            guard !Task.isCancelled else { return }
            report(.browser(outcome))
            if outcome != .launched, let lasting { report(.opening(lasting)) }
        }
        defer { launch.cancel() }
        let check = checksClient && pushed == nil ? probe : nil
        let question = Task {
            if let rejection = await check?.rejection(), !Task.isCancelled { report(.rejected(rejection)) }
        }
        defer { question.cancel() }
        let callback = try await receiver.callback(within: timeout)
        report(.answered)
        return try attempt.complete(with: callback)
    }
}

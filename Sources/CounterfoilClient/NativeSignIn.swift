public import CounterfoilProtocol

/// A sign-in of a user through the system browser.
///
/// ```swift
/// let signIn = try NativeSignIn(issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read")
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
    /// The maximum time to wait for the callback; then the sign-in fails with ``SignInError/timedOut``.
    public var timeout = Duration.seconds(300)
    /// The server with its vendor profile, for a server that deviates from the standard.
    ///
    /// If it is nil, the client fetches the metadata of ``issuer``.
    public var vendor: VendorServer?
    /// The condition under which the client pushes the authorization request to the server (RFC 9126).
    public var pushing = Pushing.whenOffered
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

    /// The condition under which an authorization request is pushed.
    public enum Pushing: Sendable, Hashable {
        /// The client pushes the request if the server supports it.
        case whenOffered
        /// The client always pushes the request; the sign-in fails if the server does not support it.
        case always
        /// The client pushes the request only if the server requires it.
        case whenRequired
    }

    /// An event of a sign-in; it contains no code and no token.
    public enum Event: Sendable, Hashable {
        /// The server's metadata were found and are valid.
        case discovered(AuthorizationServerConfiguration)
        /// The client has an identifier at the server; the second value is the way in which the client obtained it.
        case identified(ClientIdentifier, ClientIdentification.Origin)
        /// The sign-in waits for the callback and is about to open the URL in the browser.
        ///
        /// Always show the URL to the user: the browser may fail to start, or start where the user cannot see it.
        case opening(BrowserURL)
        /// The launcher has tried to open the browser; if it failed, the user has to open the URL.
        case browser(BrowserLaunch)
        /// The callback with the expected `state` arrived; the sign-in checks the rest of it next.
        case answered
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
            redirect = .loopback(uri.tryingPorts(vendor.profile.redirect.ports))
        }
    }

    /// Prepares a sign-in from strings; throws ``SignInError/unusable(_:)`` if one of them is invalid.
    public init(issuer: String, clientID: String, scope: String = "") throws(SignInError) {
        let server: Issuer
        do { server = try Issuer(ofServer: issuer) } catch { throw .unusable("the issuer cannot be used: \(error)") }
        guard let clientID = ClientIdentifier(clientID) else {
            throw .unusable("the client ID is empty or contains invalid characters")
        }
        let wanted: Scope
        do { wanted = try Scope(lenient: scope) } catch { throw .unusable("\(error)") }
        self.init(issuer: server, clientID: clientID, scope: wanted)
    }

    /// Opens the browser, waits for the user, and exchanges the code.
    ///
    /// Every run generates a new state, nonce and code verifier. The redirect receiver listens only while this function
    /// runs. If the task is cancelled, the function throws ``SignInError/cancelled``.
    public func run(
        onEvent report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws(SignInError) -> Credentials {
        _ = try redirect.usable()
        let configuration = try await configuration()
        report(.discovered(configuration))
        let receiver = try await redirect.listen()
        let known: IdentifiedClient
        let code: ValidatedCode
        do throws(SignInError) {
            known = try await identified(at: configuration, for: receiver.redirectURI)
            report(.identified(known.id, known.origin))
            code = try await self.code(of: known, at: configuration, through: receiver, report: report)
        } catch {
            await receiver.close()
            throw error
        }
        await receiver.close()
        let credentials = try await exchange(code, of: known)
        report(.exchanged)
        return credentials
    }

    /// Obtains a code; on failure, deletes the stored registration if the server seems to have deleted the client.
    private func code(
        of known: IdentifiedClient,
        at configuration: AuthorizationServerConfiguration,
        through receiver: any RedirectReceiver,
        report: @escaping @Sendable (Event) -> Void
    ) async throws(SignInError) -> ValidatedCode {
        do throws(SignInError) {
            return try await authorize(known, at: configuration, through: receiver, report: report)
        } catch {
            await client.forget(known, at: issuer, after: error)
            throw error
        }
    }

    private func exchange(
        _ code: consuming ValidatedCode, of known: IdentifiedClient
    ) async throws(SignInError) -> Credentials {
        do throws(SignInError) { return try await AuthorizationCodeExchange(transport: transport).exchange(code) } catch
        {
            await client.forget(known, at: issuer, after: error)
            throw error
        }
    }

    private func identified(
        at server: AuthorizationServerConfiguration, for redirectURI: RedirectURI
    ) async throws(SignInError) -> IdentifiedClient {
        try await client.client(
            at: server, authentication: options.authentication, redirectURIs: redirect.registrable(redirectURI),
            grantTypes: ["authorization_code", "refresh_token"], scope: scope, through: transport)
    }

    private func configuration() async throws(SignInError) -> AuthorizationServerConfiguration {
        if let vendor { return try await vendor.configuration(transport: transport) }
        return try await MetadataDiscovery(transport: transport)
            .configuration(of: issuer, skippingPKCEMetadataCheck: skippingPKCEMetadataCheck)
    }

    private func pushes(at server: AuthorizationServerConfiguration) -> Bool {
        switch pushing {
        case .always: true
        case .whenOffered: server.pushedAuthorizationRequestEndpoint != nil
        case .whenRequired: server.requiresPushedRequests
        }
    }

    private func authorize(
        _ known: IdentifiedClient,
        at configuration: AuthorizationServerConfiguration,
        through receiver: any RedirectReceiver,
        report: @escaping @Sendable (Event) -> Void
    ) async throws(SignInError) -> ValidatedCode {
        if !skippingRedirectURICheck { try redirectURIUses.claim(receiver.redirectURI, for: configuration) }
        var options = options
        options.authentication = known.authentication
        var attempt = AuthorizationAttempt(
            at: configuration, clientID: known.id, redirectURI: receiver.redirectURI, scope: scope, options: options)
        if pushes(at: configuration) { try await attempt.push(through: transport) }
        let url: BrowserURL
        do { url = try BrowserURL(attempt.authorizationURL) } catch {
            throw .unusable("the authorization request is too long for a browser: \(error)")
        }
        receiver.expect(attempt.expectation)
        report(.opening(url))
        // The browser process may run until the user closes the browser. Do not wait for it after the callback.
        let launch = Task { [browser = receiver.browser ?? browser] in
            let outcome = await browser.open(url)
            if !Task.isCancelled { report(.browser(outcome)) }
        }
        defer { launch.cancel() }
        let callback = try await receiver.callback(within: timeout)
        report(.answered)
        return try attempt.complete(with: callback)
    }
}

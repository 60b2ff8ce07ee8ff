public import CounterfoilProtocol

/// Signs a person in through the system browser, in three lines.
///
///     let signIn = try NativeSignIn(issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read")
///     let credentials = try await signIn.run()
///     let photos = try await ResourceClient(credentials).get("https://photos.example.com/photos")
///
/// RFC 8252: the authorization code grant with PKCE in the person's own browser, the answer on a loopback port unless
/// ``redirect`` says otherwise. Its steps are types of their own, each usable alone: ``MetadataDiscovery``,
/// ``LoopbackReceiver``, ``AuthorizationAttempt``, ``SystemBrowser``, ``TokenExchange``.
public struct NativeSignIn: Sendable {
    /// The server.
    public var issuer: Issuer
    /// The application, and how the server comes to know it.
    public var client: ClientIdentification
    /// What to ask for; an empty scope asks for what the server gives by itself.
    public var scope: Scope
    /// How the answer comes back: a redirect URI that is registered, or several in the order in which they are tried.
    public var redirect = RedirectOption.loopback
    /// What to ask besides.
    public var options = AuthorizationAttempt.Options()
    /// How long to wait for the person.
    public var timeout = Duration.seconds(300)
    /// The vendor's server, where it is not the standard's; nil finds the server by its issuer.
    public var vendor: VendorServer?
    /// Whether the request goes to the server before the browser opens (RFC 9126).
    public var pushing = Pushing.whenOffered
    /// Takes a server whose metadata do not say that it does PKCE.
    ///
    /// The challenge is sent all the same.
    public var skippingPKCEMetadataCheck = false
    /// Takes a redirect URI that this process uses at another server already, though neither names itself in its answers.
    ///
    /// One of them could then be given the other's codes (RFC 8252 §8.10).
    public var skippingRedirectURICheck = false
    /// What opens the browser, unless the receiver of the answer is one itself.
    public var browser: any BrowserLauncher = SystemBrowser()
    /// What carries the requests.
    public var transport: any HTTPTransport = .standard
    /// Which server each redirect URI belongs to.
    package var redirectURIUses = RedirectURIUses.ofThisProcess

    /// Whether an authorization request is pushed.
    public enum Pushing: Sendable, Hashable {
        /// Where the server offers it.
        case whenOffered
        /// Always; a server without it is refused.
        case always
        /// Only where the server takes no other.
        case whenRequired
    }

    /// Something that happens while a person signs in; none of it holds a code or a token.
    public enum Event: Sendable, Hashable {
        /// The server's metadata were found and are sound.
        case discovered(AuthorizationServerConfiguration)
        /// The server knows the application by this name, which it came to in that way.
        case identified(ClientIdentifier, ClientIdentification.Origin)
        /// The answer is waited for and the address should be opened in the browser.
        ///
        /// Show it always: the browser may fail to start, or start somewhere else.
        case opening(BrowserURL)
        /// What came of the attempt to open the browser.
        case browser(BrowserLaunch)
        /// The browser brought the answer.
        case answered
        /// The code was exchanged for tokens.
        case exchanged
    }

    /// Prepares a sign-in of an application that the server has given an identifier.
    public init(issuer: Issuer, clientID: ClientIdentifier, scope: Scope = Scope()) {
        self.init(issuer: issuer, client: ClientIdentification(clientID, at: issuer), scope: scope)
    }

    /// Prepares a sign-in of an application that the server may have to be told of first.
    public init(issuer: Issuer, client: ClientIdentification, scope: Scope = Scope()) {
        self.issuer = issuer
        self.client = client
        self.scope = scope
    }

    /// Prepares a sign-in at a vendor's server, with what its profile says of redirect URIs and permissions.
    public init(at vendor: VendorServer, clientID: ClientIdentifier, scope: Scope = Scope()) {
        self.init(at: vendor, client: ClientIdentification(clientID, at: vendor.issuer), scope: scope)
    }

    /// Prepares a sign-in at a vendor's server, of an application that it may have to be told of first.
    public init(at vendor: VendorServer, client: ClientIdentification, scope: Scope = Scope()) {
        self.init(issuer: vendor.issuer, client: client, scope: scope)
        self.vendor = vendor
        if scope.isEmpty, let usual = try? Scope(lenient: vendor.profile.defaultScope) { self.scope = usual }
        if let registered = vendor.profile.redirect.loopback, let address = try? LoopbackAddress(registered) {
            redirect = .loopback(address.tryingPorts(vendor.profile.redirect.ports))
        }
    }

    /// Prepares a sign-in from texts; one that cannot be used is refused with the reason.
    public init(issuer: String, clientID: String, scope: String = "") throws(SignInError) {
        let server: Issuer
        do { server = try Issuer(ofServer: issuer) } catch { throw .unusable("the issuer cannot be used: \(error)") }
        guard let clientID = ClientIdentifier(clientID) else {
            throw .unusable("the client id is empty or holds characters that it cannot have")
        }
        let wanted: Scope
        do { wanted = try Scope(lenient: scope) } catch { throw .unusable("\(error)") }
        self.init(issuer: server, clientID: clientID, scope: wanted)
    }

    /// Opens the browser, waits for the person, and exchanges the code.
    ///
    /// Every run has its own state, nonce and verifier. The answer is listened for during the wait and not longer; cancelling
    /// the task ends it.
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

    /// The code of an application that the server turns out to know, or not to know any more.
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
        do throws(SignInError) { return try await TokenExchange(transport: transport).exchange(code) } catch {
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
        // The browser may run until the person closes it; nobody waits for that once the answer is there.
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

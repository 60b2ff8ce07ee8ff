public import CounterfoilProtocol

/// Signs a person in through the system browser, in three lines.
///
///     let signIn = try NativeSignIn(issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read")
///     let credentials = try await signIn.run()
///     let photos = try await ResourceClient(credentials).get("https://photos.example.com/photos")
///
/// RFC 8252: the authorization code grant with PKCE in the person's own browser, the answer on a loopback port. Its steps
/// are types of their own, each usable alone: ``MetadataDiscovery``, ``LoopbackReceiver``, ``AuthorizationAttempt``,
/// ``SystemBrowser``, ``TokenExchange``.
public struct NativeSignIn: Sendable {
    /// The server.
    public var issuer: Issuer
    /// The application, as the server knows it.
    public var clientID: ClientIdentifier
    /// What to ask for; an empty scope asks for what the server gives by itself.
    public var scope: Scope
    /// The redirect URI as it is registered; nil is `http://127.0.0.1/callback`, and on a device without IPv4 the same on
    /// `[::1]`.
    public var redirectAddress: LoopbackAddress?
    /// What to ask besides.
    public var options = AuthorizationAttempt.Options()
    /// How long to wait for the person.
    public var timeout = Duration.seconds(300)
    /// Takes a server whose metadata do not say that it does PKCE.
    ///
    /// The challenge is sent all the same.
    public var skippingPKCEMetadataCheck = false
    /// What opens the browser.
    public var browser: any BrowserLauncher = SystemBrowser()
    /// What carries the requests.
    public var transport: any HTTPTransport = .standard

    /// Something that happens while a person signs in; none of it holds a code or a token.
    public enum Event: Sendable, Hashable {
        /// The server's metadata were found and are sound.
        case discovered(AuthorizationServerConfiguration)
        /// The port is open and the address should be opened in the browser.
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

    /// Prepares a sign-in.
    public init(issuer: Issuer, clientID: ClientIdentifier, scope: Scope = Scope()) {
        self.issuer = issuer
        self.clientID = clientID
        self.scope = scope
    }

    /// Prepares a sign-in from texts; one that cannot be used is refused with the reason.
    public init(issuer: String, clientID: String, scope: String = "") throws(SignInError) {
        do { self.issuer = try Issuer(ofServer: issuer) } catch {
            throw .unusable("the issuer cannot be used: \(error)")
        }
        guard let clientID = ClientIdentifier(clientID) else {
            throw .unusable("the client id is empty or holds characters that it cannot have")
        }
        self.clientID = clientID
        do { self.scope = try Scope(lenient: scope) } catch { throw .unusable("\(error)") }
    }

    /// Opens the browser, waits for the person, and exchanges the code.
    ///
    /// Every run has its own state, nonce and verifier. The port is open for the wait and not longer; cancelling the task
    /// closes it.
    public func run(
        onEvent report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws(SignInError) -> Credentials {
        let configuration = try await MetadataDiscovery(transport: transport)
            .configuration(of: issuer, skippingPKCEMetadataCheck: skippingPKCEMetadataCheck)
        report(.discovered(configuration))
        let receiver = try await listen()
        let code: ValidatedCode
        do {
            code = try await authorize(at: configuration, through: receiver, report: report)
        } catch {
            await receiver.close()
            throw error
        }
        await receiver.close()
        let credentials = try await TokenExchange(transport: transport).exchange(code)
        report(.exchanged)
        return credentials
    }

    private func listen() async throws(SignInError) -> LoopbackReceiver {
        if let redirectAddress { return try await LoopbackReceiver.listen(at: redirectAddress) }
        // RFC 8252 §7.3: whichever of the two families is available.
        do { return try await LoopbackReceiver.listen(at: .standard) } catch {
            return try await LoopbackReceiver.listen(at: .standardIPv6)
        }
    }

    private func authorize(
        at configuration: AuthorizationServerConfiguration,
        through receiver: some RedirectReceiver,
        report: @escaping @Sendable (Event) -> Void
    ) async throws(SignInError) -> ValidatedCode {
        let attempt = AuthorizationAttempt(
            at: configuration, clientID: clientID, redirectURI: receiver.redirectURI, scope: scope, options: options)
        let url: BrowserURL
        do { url = try BrowserURL(attempt.authorizationURL) } catch {
            throw .unusable("the authorization request is too long for a browser: \(error)")
        }
        receiver.expect(attempt.expectation)
        report(.opening(url))
        // The browser may run until the person closes it; nobody waits for that once the answer is there.
        let launch = Task { [browser] in
            let outcome = await browser.open(url)
            if !Task.isCancelled { report(.browser(outcome)) }
        }
        defer { launch.cancel() }
        let callback = try await receiver.callback(within: timeout)
        report(.answered)
        return try attempt.complete(with: callback)
    }
}

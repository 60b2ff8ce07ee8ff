import CounterfoilProtocol

/// Ends a person's session at the server, in the browser in which it began.
///
/// OpenID Connect RP-Initiated Logout §2. Giving tokens back ends the sign-in of one application; this ends what the person
/// is signed in to at the server, so that the next sign-in asks who they are.
public struct BrowserSignOut: Sendable {
    /// Where the browser goes afterwards, as it is registered for that; nil goes nowhere, and then nobody waits for it.
    public var redirect: RedirectOption?
    /// How long to wait for the browser to come back.
    public var timeout = Duration.seconds(300)
    /// What opens the browser, unless the receiver of the answer is one itself.
    public var browser: any BrowserLauncher = SystemBrowser()
    /// What carries the requests.
    public var transport: any HTTPTransport = .standard

    /// What came of it.
    public enum Outcome: Sendable, Hashable {
        /// The browser has come back: the session has ended.
        case ended
        /// The page was opened; what the person does there is not learned.
        case opened
        /// The server has no page for it.
        case unsupported
    }

    /// Something that happens meanwhile; none of it holds a token that opens anything.
    public enum Event: Sendable, Hashable {
        /// The address should be opened in the browser; the value says whether it is waited for.
        ///
        /// Show it always: the browser may fail to start, or start somewhere else.
        case opening(BrowserURL, isAwaited: Bool)
        /// What came of the attempt to open the browser.
        case browser(BrowserLaunch)
    }

    /// Ends a session without coming back.
    public init() {}

    /// Ends a session, and comes back to an address that is registered for that.
    public init(returningTo redirect: RedirectOption) { self.redirect = redirect }

    /// Opens the server's page, and waits for the browser to come back where it can.
    ///
    /// The person is asked there, unless the ID token of the sign-in shows whose session is meant.
    public func run(
        _ credentials: Credentials, onEvent report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws(SignInError) -> Outcome {
        _ = try redirect?.usable()
        let server = try await credentials.serverConfiguration(transport: transport)
        guard let endpoint = server.endSessionEndpoint else { return .unsupported }
        guard let redirect else {
            let url = try Self.url(of: endpoint, for: credentials)
            report(.opening(url, isAwaited: false))
            report(.browser(await browser.open(url)))
            return .opened
        }
        let receiver = try await redirect.listen()
        do throws(SignInError) {
            try await wait(at: receiver, opening: endpoint, for: credentials, report)
        } catch {
            await receiver.close()
            throw error
        }
        await receiver.close()
        return .ended
    }

    private func wait(
        at receiver: any RedirectReceiver, opening endpoint: EndpointURL, for credentials: Credentials,
        _ report: @escaping @Sendable (Event) -> Void
    ) async throws(SignInError) {
        let state = State()
        let expectation = CallbackExpectation(
            redirectURI: receiver.redirectURI, state: state, question: .endOfSession)
        let url = try Self.url(
            of: endpoint, for: credentials,
            FormParameters(["post_logout_redirect_uri": receiver.redirectURI.rawValue, "state": state.exposed]))
        receiver.expect(expectation)
        report(.opening(url, isAwaited: true))
        // The browser may run until the person closes it; nobody waits for that once the answer is there.
        let launch = Task { [browser = receiver.browser ?? browser] in
            let outcome = await browser.open(url)
            if !Task.isCancelled { report(.browser(outcome)) }
        }
        defer { launch.cancel() }
        let callback = try await receiver.callback(within: timeout)
        guard case .answer(.signedOut) = expectation.verdict(on: callback) else {
            throw .unsafe(.callback(.wrongState))
        }
    }

    /// The address of the page; the ID token says whose session is meant, unless it is too long for an address.
    private static func url(
        of endpoint: EndpointURL, for credentials: Credentials, _ more: FormParameters = FormParameters([:])
    ) throws(SignInError) -> BrowserURL {
        var form = FormParameters(["client_id": credentials.clientID.rawValue])
        for pair in more.pairs { form.append(pair.name, pair.value) }
        var hinted = form
        hinted.append("id_token_hint", ifPresent: credentials.idToken?.exposed)
        if let url = try? BrowserURL(endpoint.uri.appending(hinted)) { return url }
        do { return try BrowserURL(endpoint.uri.appending(form)) } catch {
            throw .unusable("the request to end the session is too long for a browser: \(error)")
        }
    }
}

@_spi(Counterfoil) import CounterfoilProtocol

/// A sign-out that ends the user's session at the server, in the browser.
///
/// OpenID Connect RP-Initiated Logout §2. A revocation of tokens affects only one client. A browser sign-out
/// ends the session at the server, so that the next sign-in asks the user to authenticate.
public struct BrowserSignOut: Sendable {
    /// The registered post-logout redirect URI; nil if the browser does not return to the client.
    ///
    /// If it is nil, the sign-out does not wait for the result.
    public var redirect: RedirectOption?
    /// The maximum time to wait for the browser to return.
    public var timeout = Duration.seconds(300)
    /// The launcher that opens the browser; not used if the receiver has a ``RedirectReceiver/browser``.
    public var browser: any BrowserLauncher = SystemBrowser()
    /// The transport that fetches the server's metadata; the browser sends the logout request itself.
    public var transport: any HTTPTransport = .standard

    /// The result of a sign-out, as far as the client can observe it.
    public enum Outcome: Sendable, Hashable {
        /// The browser returned, so the session has ended.
        case ended
        /// The browser was started with the logout page; it is unknown whether the user signed out there.
        case opened
        /// No browser was started; the user has to open the URL of ``Event/opening(_:isAwaited:)``.
        case notOpened
        /// The server has no logout page, so no browser was opened.
        case unsupported
    }

    /// An event of a sign-out.
    ///
    /// It contains no access token and no refresh token, but its URL may contain the ID token.
    public enum Event: Sendable, Hashable {
        /// The browser is about to be opened at the URL; `isAwaited` tells if the sign-out waits for a callback.
        ///
        /// Always show the URL to the user, because the browser may not start, or may open where the user does not
        /// see it.
        case opening(BrowserURL, isAwaited: Bool)
        /// The launcher has tried to open the browser; if it failed, the user has to open the URL.
        case browser(BrowserLaunch)
    }

    /// Creates a sign-out that opens the logout page and does not wait for the browser to return.
    public init() {}

    /// Creates a sign-out that returns to a registered redirect URI.
    public init(returningTo redirect: RedirectOption) { self.redirect = redirect }

    /// Opens the server's logout page, and waits for the browser to return if ``redirect`` is set.
    ///
    /// Without ``redirect``, it returns when the browser was started.
    ///
    /// The server asks the user for confirmation, unless the request contains the ID token (`id_token_hint`), which
    /// identifies the session.
    public func run(
        _ credentials: Credentials, onEvent report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws(SignInError) -> Outcome {
        _ = try redirect?.usable()
        let server = try await credentials.serverConfiguration(transport: transport)
        guard let endpoint = server.endSessionEndpoint else { return .unsupported }
        guard let redirect else {
            let url = try Self.url(of: endpoint, for: credentials)
            report(.opening(url, isAwaited: false))
            let launch = await launch(at: url)
            report(.browser(launch))
            return launch == .launched ? .opened : .notOpened
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

    /// The time after which a launcher that has not failed has started the browser.
    private static let launchTime = Duration.seconds(2)

    /// Opens the browser, and returns without waiting until the user closes it.
    private func launch(at url: BrowserURL) async -> BrowserLaunch {
        await withTaskGroup(of: BrowserLaunch.self) { group in
            group.addTask { [browser] in await browser.open(url) }
            group.addTask {
                try? await Task.sleep(for: Self.launchTime)
                return .launched
            }
            defer { group.cancelAll() }
            return await group.next() ?? .notAttempted
        }
    }

    private func wait(
        at receiver: any RedirectReceiver, opening endpoint: EndpointURL, for credentials: Credentials,
        _ report: @escaping @Sendable (Event) -> Void
    ) async throws(SignInError) {
        let state = OAuthState()
        let expectation = CallbackExpectation(
            redirectURI: receiver.redirectURI, state: state, question: .endOfSession)
        let url = try Self.url(
            of: endpoint, for: credentials,
            FormParameters(["post_logout_redirect_uri": receiver.redirectURI.rawValue, "state": state.exposed]))
        receiver.expect(expectation)
        report(.opening(url, isAwaited: true))
        // The browser process may run until the user closes the browser, so do not wait for the process after
        // the callback.
        let launch = Task { [browser = receiver.browser ?? browser] in
            let outcome = await browser.open(url, startingAt: receiver)
            if !Task.isCancelled { report(.browser(outcome)) }
        }
        defer { launch.cancel() }
        let callback = try await receiver.callback(within: timeout)
        guard case .answer(.signedOut) = expectation.verdict(on: callback) else {
            throw .unsafe(.callback(.wrongState))
        }
    }

    /// Returns the URL of the logout page, with `id_token_hint` unless that makes the URL too long.
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

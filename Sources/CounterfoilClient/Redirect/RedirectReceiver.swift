public import CounterfoilProtocol

/// What takes the answer that the browser brings back.
///
/// RFC 8252 §7. A receiver exists only while it already listens, so that its redirect URI is one that will be answered. It
/// decides nothing about an answer: the expectation of the attempt does.
public protocol RedirectReceiver: Sendable {
    /// Where it listens; what the attempt names in its request.
    var redirectURI: RedirectURI { get }

    /// The browser that belongs to it, where the system opens the page and takes the answer in one step; otherwise nil, and
    /// any browser will do.
    var browser: (any BrowserLauncher)? { get }

    /// Says what to wait for; before this, everything that arrives is turned away.
    func expect(_ expectation: CallbackExpectation)

    /// Waits for the answer; one that is not expected does not end the wait.
    func callback(within timeout: Duration) async throws(SignInError) -> AuthorizationCallback

    /// Stops listening; nothing arrives afterwards.
    func close() async
}

extension RedirectReceiver {
    /// None: any browser will do.
    public var browser: (any BrowserLauncher)? { nil }
}

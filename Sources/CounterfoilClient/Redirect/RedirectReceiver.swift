public import CounterfoilProtocol

/// A receiver for the callback with which the browser returns to the client (RFC 8252 §7).
///
/// A receiver listens from its creation until ``close()``, and its redirect URI works only during that time.
/// The ``CallbackExpectation`` of the sign-in, and not the receiver, decides whether a callback is expected.
public protocol RedirectReceiver: Sendable {
    /// The redirect URI that the client sends in its request to the server.
    var redirectURI: RedirectURI { get }

    /// The only launcher that can open the server's page for this receiver; nil if any launcher can.
    ///
    /// Apple's web authentication session opens the page and receives the callback in one step. A receiver that
    /// uses such a session therefore provides the launcher.
    var browser: (any BrowserLauncher)? { get }

    /// Returns a URL of this receiver that redirects the browser to `url` once; nil if the receiver has none.
    ///
    /// Launchers that pass the URL to another program as an argument open it instead of `url`.
    func startURL(for url: BrowserURL) -> LocalStartURL?

    /// Sets the expected callback; callbacks that arrive earlier are rejected.
    func expect(_ expectation: CallbackExpectation)

    /// Waits for the expected callback.
    ///
    /// An unexpected callback does not end the wait. The exception is a system that delivers only one callback, such
    /// as Apple's: there, an unexpected callback ends the wait with an error.
    func callback(within timeout: Duration) async throws(SignInError) -> AuthorizationCallback

    /// Stops listening; no callback arrives afterwards.
    func close() async
}

extension RedirectReceiver {
    /// Nil, which is the default: any launcher can open the page.
    public var browser: (any BrowserLauncher)? { nil }

    /// Nil, which is the default: the launcher opens the URL itself.
    public func startURL(for url: BrowserURL) -> LocalStartURL? { nil }

    /// Waits at most five minutes for the expected callback.
    public func callback() async throws(SignInError) -> AuthorizationCallback {
        try await callback(within: .seconds(300))
    }
}

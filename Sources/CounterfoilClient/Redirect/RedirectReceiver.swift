public import CounterfoilProtocol

/// A receiver for the callback that the browser brings back (RFC 8252 §7).
///
/// A receiver exists only while it waits for callbacks, so that its redirect URI works. It does not judge
/// a callback itself: the expectation of the attempt does.
public protocol RedirectReceiver: Sendable {
    /// The redirect URI, which the attempt sends in its request.
    var redirectURI: RedirectURI { get }

    /// The browser that belongs to the receiver; nil if any browser can be used.
    ///
    /// Some systems open the page and receive the callback in one step.
    var browser: (any BrowserLauncher)? { get }

    /// Sets the expected callback; callbacks that arrive earlier are rejected.
    func expect(_ expectation: CallbackExpectation)

    /// Waits for the expected callback.
    ///
    /// An unexpected one does not end the wait, unless the system delivers only one.
    func callback(within timeout: Duration) async throws(SignInError) -> AuthorizationCallback

    /// Stops listening; no callback arrives afterwards.
    func close() async
}

extension RedirectReceiver {
    /// The default, nil: any browser can be used.
    public var browser: (any BrowserLauncher)? { nil }

    /// Waits at most five minutes for the expected callback.
    public func callback() async throws(SignInError) -> AuthorizationCallback {
        try await callback(within: .seconds(300))
    }
}

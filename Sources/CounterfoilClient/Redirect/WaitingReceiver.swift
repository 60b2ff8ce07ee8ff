import CounterfoilProtocol

/// A receiver whose only state of a wait is a ``CallbackWait``.
protocol WaitingReceiver: RedirectReceiver {
    /// The wait for the callback.
    var wait: CallbackWait { get }
}

extension WaitingReceiver {
    /// Sets the expected callback; callbacks that arrive earlier are rejected.
    public func expect(_ expectation: CallbackExpectation) { wait.expect(expectation) }

    /// Waits for the callback, and closes the receiver after a timeout or a cancellation.
    public func callback(within timeout: Duration) async throws(SignInError) -> AuthorizationCallback {
        try await wait.callback(within: timeout, orClose: close)
    }
}

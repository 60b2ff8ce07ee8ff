import CounterfoilProtocol

/// A receiver that waits for its callback with a ``CallbackWait``.
protocol WaitingReceiver: RedirectReceiver {
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

import CounterfoilClient

extension AuthorizationAttempt {
    /// Returns the reason why the attempt rejects a callback, or nil if the callback yields a code.
    consuming func refusal(of callback: AuthorizationCallback) -> SignInError? {
        do {
            _ = try complete(with: callback)
            return nil
        } catch {
            return error
        }
    }
}

import CounterfoilClient

extension AuthorizationAttempt {
    /// Why the attempt refuses a callback, or nil when it gives a code.
    consuming func refusal(of callback: AuthorizationCallback) -> SignInError? {
        do {
            _ = try complete(with: callback)
            return nil
        } catch {
            return error
        }
    }
}

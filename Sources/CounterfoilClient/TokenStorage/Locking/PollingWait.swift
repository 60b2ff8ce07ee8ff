/// A wait for a lock that polls at growing intervals and blocks no thread.
struct PollingWait: Sendable {
    let limit: Duration
    /// Whether cancelling the task ends the wait.
    ///
    /// It is false for a task that has tokens to store, because they would be lost if the wait ended early.
    var isCancellable = true

    private static let longestPause = Duration.milliseconds(25)

    /// Repeats the attempt until it returns a value, the limit expires, or the task is cancelled.
    func value<Value: Sendable>(
        orThrow busy: () -> TokenStoreError, _ attempt: () throws(TokenStoreError) -> Value?
    ) async throws(TokenStoreError) -> Value {
        let deadline = ContinuousClock.now + limit
        var pause = Duration.milliseconds(1)
        while true {
            if isCancellable && Task.isCancelled { throw .cancelled }
            if let value = try attempt() { return value }
            guard ContinuousClock.now < deadline else { throw busy() }
            await sleep(pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func sleep(_ pause: Duration) async {
        if isCancellable {
            try? await Task.sleep(for: pause)
        } else {
            // Cancelling the current task does not cancel a detached task, so the pause has its full length.
            await Task.detached { try? await Task.sleep(for: pause) }.value
        }
    }
}

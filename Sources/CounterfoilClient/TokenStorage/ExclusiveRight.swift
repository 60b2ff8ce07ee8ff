/// The right to be the only one who refreshes a profile, as long as this value lives.
///
/// A store makes it; it ends with the value, with ``end()``, or with the process.
public struct ExclusiveRight: ~Copyable, Sendable {
    private let release: @Sendable () -> Void

    /// A right that is given back by a function, which is called once.
    public init(endingWith release: @escaping @Sendable () -> Void) { self.release = release }

    /// Gives the right back now.
    public consuming func end() {}

    deinit { release() }
}

/// Waiting for one's turn by trying again, ever more slowly: no thread stands still meanwhile.
struct Turn: Sendable {
    /// How long to wait at most.
    let limit: Duration
    /// Whether cancelling the task ends the wait.
    ///
    /// Whoever has tokens to keep waits on: they would be lost.
    var isCancellable = true

    private static let longestPause = Duration.milliseconds(25)

    /// What the attempt gives at last.
    func wait<Value: Sendable>(
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
            // A task of its own does not learn of the cancellation of this one.
            await Task.detached { try? await Task.sleep(for: pause) }.value
        }
    }
}

/// The lock under which one task refreshes a profile, or registers a client at a server.
///
/// A store creates it. It ends with the value, with ``release()``, or with the process.
public struct TokenStoreLock: ~Copyable, Sendable {
    private let onRelease: @Sendable () -> Void

    /// Creates a lock that the closure releases.
    ///
    /// The closure is called once.
    public init(releasingWith onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    /// Releases the lock immediately.
    public consuming func release() {}

    deinit { onRelease() }
}

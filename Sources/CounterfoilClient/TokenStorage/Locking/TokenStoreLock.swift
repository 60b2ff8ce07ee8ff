/// A lock that a task holds while it refreshes a profile or registers a client at a server.
///
/// A store creates the lock. It is released by ``release()``, when the value is destroyed, or when the process
/// ends.
public struct TokenStoreLock: ~Copyable, Sendable {
    private let onRelease: @Sendable () -> Void

    /// Creates a lock that is released by a closure.
    ///
    /// The closure is called exactly once, when the lock is released.
    public init(releasingWith onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    /// Releases the lock immediately.
    public consuming func release() {}

    deinit { onRelease() }
}

/// A lock that a task holds while it refreshes a profile or registers a client at a server.
///
/// A store creates the lock. It is released by ``release()``, when the value is destroyed, or when the process
/// ends.
public struct TokenStoreLock: ~Copyable, Sendable {
    private let onLeave: @Sendable (RefreshFailure?) -> Void
    private let onRelease: @Sendable () -> Void

    /// Creates a lock that is released by a closure, and keeps no failure.
    ///
    /// The closure is called exactly once, when the lock is released.
    public init(releasingWith onRelease: @escaping @Sendable () -> Void) {
        self.init(leavingWith: { _ in }, releasingWith: onRelease)
    }

    /// Creates a refresh lock whose holder can leave a failure.
    ///
    /// `onLeave` stores the failure for ``TokenStore/refreshFailure(of:)``, or deletes the stored one if it is nil. It
    /// is called before `onRelease`.
    public init(
        leavingWith onLeave: @escaping @Sendable (RefreshFailure?) -> Void,
        releasingWith onRelease: @escaping @Sendable () -> Void
    ) {
        self.onLeave = onLeave
        self.onRelease = onRelease
    }

    /// Leaves the failure of a refresh for other processes and tasks; nil if the refresh succeeded.
    public func leave(_ failure: RefreshFailure?) { onLeave(failure) }

    /// Releases the lock immediately.
    public consuming func release() {}

    deinit { onRelease() }
}

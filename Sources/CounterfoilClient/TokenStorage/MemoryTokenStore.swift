import Synchronization

/// A store that forgets when the application ends: for those that sign in each time, and for tests.
public final class MemoryTokenStore: TokenStore {
    private let kept = Mutex<[ProfileName: Credentials]>([:])

    /// Makes an empty store.
    public init() {}

    /// The credentials of a profile, or nil when there are none.
    public func credentials(of profile: ProfileName) -> Credentials? {
        kept.withLock { $0[profile] }
    }

    /// Keeps the credentials of a profile until the store goes.
    public func save(_ credentials: Credentials, as profile: ProfileName) {
        kept.withLock { $0[profile] = credentials }
    }

    /// Forgets the credentials of a profile; answers whether there were any.
    @discardableResult
    public func remove(_ profile: ProfileName) -> Bool {
        kept.withLock { $0.removeValue(forKey: profile) != nil }
    }
}

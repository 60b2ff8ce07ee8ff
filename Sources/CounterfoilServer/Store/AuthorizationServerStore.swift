/// Everything that the authorization server keeps, by concern.
///
/// The contract of every method: reading gives facts; a commit is one atomic, conditional, durable step that also writes
/// everything that the decision creates, and its outcome says what happened. Nothing is half written. A store that cannot
/// answer now throws ``StoreFault``, and then the commit has not happened or, after a lost connection, is as if not asked.
public typealias AuthorizationServerStore = AuditStore & BrandingStore & ClientStore & ConsentStore & GrantStore
    & HousekeepingStore & LogoutDeliveryStore & PeopleStore & RefreshTokenStore & ResourceStore & ScopeStore
    & ServiceRecordStore & SessionStore & SigningKeyStore

/// Why a store could not answer.
public enum StoreFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// It may answer later: the database is locked, the disk is full, the connection is gone. The text is for the log.
    case unavailable(String)
    /// It will not answer until somebody mends it: the file is damaged or not what was expected. The text is for the log.
    case damaged(String)

    /// What happened, for the log.
    public var description: String {
        switch self {
        case .unavailable(let reason): "the store is unavailable: \(reason)"
        case .damaged(let reason): "the store is damaged: \(reason)"
        }
    }
}

/// The store of the authorization server: one protocol for each kind of data.
///
/// Every method follows the same contract:
///
/// - A read returns the committed state. A read of several records returns them as of one moment.
/// - A write is one atomic transaction, which is durable when the method returns.
/// - A write checks its conditions inside the transaction and writes all the records that the decision
///   creates.
/// - The outcome of a write says what happened. With any outcome but success, the transaction has changed
///   nothing.
/// - A store that cannot answer throws ``StoreFault``. A write that throws has not been committed. If a lost
///   connection hides the result, the caller treats the write as never requested.
public typealias AuthorizationServerStore = AuditStore & BrandingStore & ClientAssertionStore & ClientStore
    & ConsentStore & GrantStore & LogoutDeliveryStore & MaintenanceStore & PeopleStore & RefreshTokenStore
    & ResourceStore & ScopeStore & ServiceRecordStore & SessionStore & SigningKeyStore

/// The reason why a store could not answer.
public enum StoreFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A fault that may pass: the database is locked, the disk is full or the connection is lost.
    ///
    /// The value is for the log.
    case unavailable(String)
    /// A fault that needs an operator: the file is damaged or has an unexpected format.
    ///
    /// The value is for the log.
    case damaged(String)

    /// The fault as the log shows it.
    public var description: String {
        switch self {
        case .unavailable(let reason): "the store is unavailable: \(reason)"
        case .damaged(let reason): "the store is damaged: \(reason)"
        }
    }
}

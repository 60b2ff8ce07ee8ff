/// The store of the authorization server: one protocol for each kind of data.
///
/// Every method follows the same contract:
///
/// - A read returns the committed state. A read of several records returns their state at one point in time.
/// - A write is one atomic transaction, which is durable when the method returns.
/// - A write checks its conditions and writes all resulting records inside its transaction.
/// - A write returns its outcome. With any outcome but success, the transaction has changed nothing.
/// - A list leaves out each record with a value that this version does not know, which a newer version has written. A
///   read or write of that record alone throws ``StoreFault/unsupported(_:)``. A write never removes such a value,
///   unless it deletes the record or ends what it allows.
/// - Times that a caller passes come from the clock of the store (``StoreClock``).
/// - A store that fails throws ``StoreFault``. A write that throws has not been committed. There is one exception:
///   if the connection is lost during the commit, the result is unknown. The caller then treats the write as
///   failed.
public typealias AuthorizationServerStore = RegistryStore & UncachedStore

/// The store without the lookups of ``RegistryReader``.
///
/// The endpoints of the server hold this type beside a `CachedRegistry`. None of them can therefore look up a record of
/// the registry without the cache.
public typealias UncachedStore = AuditStore & BrandingStore & ClientAssertionStore & ClientStore
    & ConsentStore & DeviceAuthorizationStore & GrantStore & LogoutDeliveryStore & MaintenanceStore & PeopleStore
    & PushedRequestStore & RefreshTokenStore & ResourceStore & ScopeStore & ServiceRecordStore & SessionStore
    & SigningKeyStore & StoreClock & UnregisteredClientStore & UnregisteredClientUseStore

/// A failure of the store; its case tells whether it may pass or needs an operator.
public enum StoreFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A fault that may pass: the database is locked, the disk is full or the connection is lost.
    ///
    /// The associated value is the reason that the log shows.
    case unavailable(String)
    /// A fault that needs an operator: the file is damaged or has an unexpected format.
    ///
    /// The associated value is the reason that the log shows.
    case damaged(String)
    /// A record that was asked for has a value that this version does not know, because a newer version has written
    /// it.
    ///
    /// Only this record cannot be used. A list leaves such a record out and does not fail.
    case unsupported(UnsupportedValue)

    /// The fault as the log shows it.
    public var description: String {
        switch self {
        case .unavailable(let reason): "the store is unavailable: \(reason)"
        case .damaged(let reason): "the store is damaged: \(reason)"
        case .unsupported(let value): "\(value)"
        }
    }
}

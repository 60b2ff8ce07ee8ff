/// The store of the authorization server: one protocol for each kind of data.
///
/// Every method follows the same contract:
///
/// - A read returns the committed state. A read of several records returns their state at one point in time.
/// - A write is one atomic transaction, which is durable when the method returns.
/// - A write checks its conditions and writes all resulting records inside its transaction.
/// - A write returns its outcome. With any outcome but success, the transaction has changed nothing.
/// - A commit takes the events of the audit log that describe it (`recording`), and appends them in its transaction.
///   With any outcome but success (``CommitOutcome``), and if the commit was carried out before and is sent again, the
///   store appends nothing. If the caller knows the events only from the outcome, it passes a function. The store calls
///   it inside the transaction, once the outcome is certain. Such commits are rare, and may take a second round trip.
/// - A list leaves out each record with a value that this version does not know, which a newer version has written. A
///   read or write of that record alone throws ``StoreFault/unsupported(_:)``. A write never removes such a value,
///   unless it deletes the record or ends what it allows.
/// - Times that a caller passes come from the clock of the store (``StoreClock``).
/// - A store that fails throws ``StoreFault``. A write that throws has not been committed. The exception is
///   ``StoreFault/unconfirmed(_:)``: it is unknown whether the write was committed.
/// - A commit that can happen only once contains a mark: a ``CommitAttempt``, or for an approval the identifier of its
///   grant. If the store loses the connection during the commit, it asks for the mark on another connection. It throws
///   `unconfirmed` only if it gets no answer until ``RequestContext/deadline``.
/// - The caller can send such a commit again with the same mark. If it was carried out before, nothing is written, and
///   the outcome is success again.
public typealias AuthorizationServerStore = RegistryStore & UncachedStore

/// The store without the lookups of ``RegistryReader``.
///
/// The endpoints of the server hold this type beside a `CachedRegistry`. None of them can therefore look up a record of
/// the registry without the cache.
public typealias UncachedStore = ActivityStore & AppSignInStore & AttemptStore & AuditSealStore & AuditStore
    & BrandingStore & CertificateOrderStore & ClientAssertionStore & ClientDeveloperStore & ClientQueryStore
    & ClientStore & ConsentStore & DeviceAuthorizationStore & GrantStore & IdentifierKeyStore & KeptAnswerStore
    & LogoutDeliveryStore & MailStore & MaintenanceStore
    & UserStore & PasskeyStore & ProvisioningStore
    & ProofUseStore & PushedRequestStore & RefreshTokenStore & RequestStore & ResourceStore & ScopeStore
    & SecondFactorStore & ServiceRecordStore & SessionStore & SetupStore & SignUpStore & SigningKeyStore & StoreClock
    & UnregisteredClientStore & UnregisteredClientUseStore & UserAttributeStore & UserIdentityStore & UserImportStore
    & UserLinkStore & WebhookStore

/// A failure of the store; its case tells whether it may pass or needs an operator.
public enum StoreFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A fault that may pass: the database is locked, the disk is full or the connection is lost.
    ///
    /// The associated value is the reason that the log shows.
    case unavailable(String)
    /// A fault during a commit, after which it is unknown whether the commit was carried out.
    ///
    /// The associated value is the reason that the log shows.
    case unconfirmed(String)
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
        case .unconfirmed(let reason): "the store did not confirm a commit: \(reason)"
        case .damaged(let reason): "the store is damaged: \(reason)"
        case .unsupported(let value): "\(value)"
        }
    }
}

public import Foundation

/// A certificate for TLS that an authority has issued for the server, with its private key.
public struct IssuedCertificate: Sendable, Hashable {
    /// The certificate and those of its issuers, in PEM format.
    public let chain: String
    /// The private key, encrypted with the server key and bound to ``chain``.
    public let sealedKey: [UInt8]
    /// The URL of the directory of the authority that has issued it.
    public let authority: String
    /// The time at which it was stored.
    public let storedAt: Date
    /// Whether an operator has asked for a new certificate since.
    public let isRenewalRequested: Bool

    /// Creates the record of a certificate.
    public init(
        chain: String, sealedKey: [UInt8], authority: String, storedAt: Date, isRenewalRequested: Bool = false
    ) {
        self.chain = chain
        self.sealedKey = sealedKey
        self.authority = authority
        self.storedAt = storedAt
        self.isRenewalRequested = isRenewalRequested
    }
}

/// A challenge that an authority is about to validate (RFC 8555 §8), which any server with this store can answer.
///
/// It contains no secret: the authority knows every part.
public struct PendingChallenge: Sendable, Hashable {
    /// The type of the challenge, such as `tls-alpn-01`.
    public let type: String
    /// The host name that is validated.
    public let host: String
    /// The token of the challenge.
    public let token: String
    /// The key authorization (RFC 8555 §8.1).
    public let keyAuthorization: String
    /// The time after which the challenge is not answered any more.
    public let expiresAt: Date

    /// Creates the record of a challenge.
    public init(type: String, host: String, token: String, keyAuthorization: String, expiresAt: Date) {
        self.type = type
        self.host = host
        self.token = token
        self.keyAuthorization = keyAuthorization
        self.expiresAt = expiresAt
    }
}

/// The orders of a certificate that have failed since the last one that succeeded.
public struct FailedOrders: Sendable, Hashable {
    /// The digest of the settings with which they failed.
    public let settings: ArtefactDigest
    /// The URL of the directory of the authority.
    public let authority: String
    /// The number of failed orders in a row.
    public let count: Int
    /// The time of the last failure.
    public let failedAt: Date
    /// The time before which no server orders again.
    public let retryAt: Date
    /// Whether the authority has demanded the time; a restart of the server then does not shorten it.
    public let isImposed: Bool

    /// Creates the record of failed orders.
    public init(
        settings: ArtefactDigest, authority: String, count: Int, failedAt: Date, retryAt: Date, isImposed: Bool
    ) {
        self.settings = settings
        self.authority = authority
        self.count = count
        self.failedAt = failedAt
        self.retryAt = retryAt
        self.isImposed = isImposed
    }
}

/// The certificate that the servers with this store order from an authority (RFC 8555), one server at a time.
///
/// Private keys are encrypted before they are stored.
public protocol CertificateOrderStore: Sendable {
    /// Returns the encrypted account key for an authority; if there is none, stores and returns `sealed`.
    func accountKey(of authority: String, orStoring sealed: [UInt8]) async throws(StoreFault) -> [UInt8]
    /// Replaces the encrypted account key for an authority if it is still `former`.
    func replaceAccountKey(
        of authority: String, _ former: [UInt8], with sealed: [UInt8]
    ) async throws(StoreFault)

    /// Reads the certificate; nil if there is none.
    func issuedCertificate() async throws(StoreFault) -> IssuedCertificate?
    /// Stores a certificate in place of the former one.
    ///
    /// It deletes the record of the orders that have failed with the same settings, and those records whose time has
    /// passed.
    ///
    /// - Returns: False if the server does not have the lease; nothing is stored then.
    func storeCertificate(
        _ certificate: IssuedCertificate, orderedWith settings: ArtefactDigest, by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool
    /// Replaces the encrypted key of the certificate if it is still `former`.
    func replaceCertificateKey(_ former: [UInt8], with sealed: [UInt8]) async throws(StoreFault)
    /// Asks the servers for a new certificate at once, and deletes the records of failed orders.
    ///
    /// - Returns: False if it changes nothing: a new certificate was asked for before, or there is none to replace, and
    ///   no order has failed.
    func requestRenewal(recording events: [AuditEvent]) async throws(StoreFault) -> Bool

    /// Reads the challenges that have not expired.
    func pendingChallenges(at now: Date) async throws(StoreFault) -> [PendingChallenge]
    /// Replaces all challenges, if the server has the lease; otherwise only deletes those that it has stored itself.
    ///
    /// - Returns: False if the server does not have the lease; those of the server that has it are untouched then.
    func replaceChallenges(
        _ challenges: [PendingChallenge], by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool

    /// Reads the records of failed orders, one for each digest of settings, the latest failure last.
    func failedOrders() async throws(StoreFault) -> [FailedOrders]
    /// Replaces the record of failed orders of its settings.
    func noteFailedOrders(_ failed: FailedOrders) async throws(StoreFault)

    /// Takes the lease of the order, or renews it, unless another server has it.
    ///
    /// The rules are those of ``MaintenanceStore/takeMaintenanceLease(_:until:at:)``.
    func takeOrderLease(_ holder: LeaseHolder, until end: Date, at now: Date) async throws(StoreFault) -> Bool
    /// Returns the lease of the order; has no effect if another server has it.
    func returnOrderLease(_ holder: LeaseHolder) async throws(StoreFault)
}

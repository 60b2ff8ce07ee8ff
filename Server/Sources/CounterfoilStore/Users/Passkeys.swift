public import Foundation

/// A passkey of a user: the public key of a discoverable credential (WebAuthn §4).
public struct Passkey: Sendable, Hashable {
    /// The maximum number of passkeys of one user.
    public static let limitPerUser = 20
    /// The maximum length of ``name`` in characters.
    public static let nameLimit = 60

    /// The credential ID, 1 to 1023 bytes.
    public let credentialID: [UInt8]
    /// The user whom the passkey signs in.
    public let userID: UserIdentifier
    /// The public key, a `COSE_Key` (RFC 9052 §7).
    public let publicKey: [UInt8]
    /// The name by which the user tells the passkey from others.
    public var name: String
    /// The AAGUID, the 16 bytes that name the model of the authenticator; all zero if unknown.
    public let model: [UInt8]
    /// How the browser reaches the authenticator, such as `internal` (WebAuthn §5.8.4).
    public let transports: [String]
    /// Whether the authenticator can copy the passkey to other devices.
    public let isBackupEligible: Bool
    /// Whether the authenticator had copied the passkey at its last use.
    public var isBackedUp: Bool
    /// The signature counter at the last use; zero if the authenticator does not count.
    public var signatureCounter: UInt32
    /// The time of the registration.
    public let createdAt: Date
    /// The last sign-in with the passkey; nil if there was none.
    public var lastUse: Use?

    /// A sign-in with a passkey.
    public struct Use: Sendable, Hashable {
        /// The time of the sign-in.
        public let time: Date
        /// The `User-Agent`, as in ``Session/userAgent``.
        public let userAgent: String
        /// The source IP address, as in ``Session/source``.
        public let source: String

        /// Creates the record of a sign-in.
        public init(time: Date, userAgent: String, source: String) {
            self.time = time
            self.userAgent = userAgent
            self.source = source
        }
    }

    /// Creates the record of a passkey; by default it was never used.
    ///
    /// The name gets no more than ``nameLimit`` characters.
    public init(
        credentialID: [UInt8], userID: UserIdentifier, publicKey: [UInt8], name: String,
        model: [UInt8] = [UInt8](repeating: 0, count: 16), transports: [String] = [], isBackupEligible: Bool = false,
        isBackedUp: Bool = false, signatureCounter: UInt32 = 0, createdAt: Date, lastUse: Use? = nil
    ) {
        self.credentialID = credentialID
        self.userID = userID
        self.publicKey = publicKey
        self.name = String(name.prefix(Self.nameLimit))
        self.model = model
        self.transports = transports
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.signatureCounter = signatureCounter
        self.createdAt = createdAt
        self.lastUse = lastUse
    }

    /// The digest of the credential ID, by which the store finds the passkey.
    public var digest: ArtefactDigest { ArtefactDigest(ofCredentialID: credentialID) }
}

/// A passkey or a security key with its user, read in one transaction.
public struct PasskeyFacts: Sendable, Hashable {
    /// The passkey.
    public let passkey: Passkey
    /// Whether it is a security key, which begins no session without the password.
    public let isSecurityKey: Bool
    /// The user whom it signs in, whose account may be disabled.
    public let user: User

    /// Creates facts that a store has read in one transaction.
    public init(passkey: Passkey, isSecurityKey: Bool = false, user: User) {
        self.passkey = passkey
        self.isSecurityKey = isSecurityKey
        self.user = user
    }
}

/// A verified assertion of a passkey, which the beginning of a session records.
public struct PasskeyUse: Sendable, Hashable {
    /// The digest of the credential ID.
    public let digest: ArtefactDigest
    /// The signature counter of the assertion.
    public let signatureCounter: UInt32
    /// Whether the authenticator has copied the passkey.
    public let isBackedUp: Bool
    /// The digest of the challenge, which begins one session only.
    public let challenge: ArtefactDigest
    /// The time from which the server refuses the challenge for its age.
    public let challengeExpires: Date

    /// Creates the record of a verified assertion.
    public init(
        digest: ArtefactDigest, signatureCounter: UInt32, isBackedUp: Bool, challenge: ArtefactDigest,
        challengeExpires: Date
    ) {
        self.digest = digest
        self.signatureCounter = signatureCounter
        self.isBackedUp = isBackedUp
        self.challenge = challenge
        self.challengeExpires = challengeExpires
    }
}

/// The outcome of ``PasskeyStore/addPasskey(_:recording:)``.
public enum AddPasskeyOutcome: Sendable, Hashable {
    /// The user can sign in with the passkey from now on.
    case added
    /// The user has ``Passkey/limitPerUser`` passkeys already; nothing was written.
    case tooMany
    /// A user has a passkey with this credential ID (WebAuthn §7.1 step 26); nothing was written.
    case exists
    /// The user does not exist or is disabled; nothing was written.
    case userNotActive
}

/// The outcome of ``PasskeyStore/removePasskey(_:of:requiredRole:countingIdentitiesOf:recording:)``.
public enum RemovePasskeyOutcome: Sendable, Hashable {
    /// The user can no longer sign in with the passkey.
    case removed
    /// The user has no such passkey, or not the required role; nothing was written.
    case notFound
    /// The passkey is the last way in (``WaysIn``); nothing was written.
    case neededAsWayIn
}

/// The passkeys of users.
///
/// A session begins with one by ``SessionStore/beginSession(_:proving:replacing:recording:)``, which also records the
/// use. A passkey that was deleted after its assertion was verified therefore begins no session.
public protocol PasskeyStore: Sendable {
    /// Reads the passkeys of a user, oldest first, without the security keys.
    func passkeys(of user: UserIdentifier) async throws(StoreFault) -> [Passkey]
    /// Reads a passkey or a security key with its user; nil if there is none with this digest of the credential ID.
    func passkey(_ digest: ArtefactDigest) async throws(StoreFault) -> PasskeyFacts?
    /// Adds a passkey.
    func addPasskey(
        _ passkey: Passkey, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddPasskeyOutcome
    /// Notes that a user is offered a passkey after a sign-in with a password; returns false and changes nothing if the
    /// user has a passkey, was offered one before, does not exist or is disabled.
    func notePasskeyOffer(
        to user: UserIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Changes the name of a passkey or a security key; returns false if the user has no such one.
    func renamePasskey(
        _ digest: ArtefactDigest, of user: UserIdentifier, to name: String, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Deletes a passkey, unless it is the last way in.
    ///
    /// - Parameters:
    ///   - digest: The digest of the credential ID.
    ///   - user: The user.
    ///   - requiredRole: The role that the user must have; nil for any.
    ///   - issuers: The issuers whose identities are ways in.
    ///   - events: The events that describe the commit, which the store appends with it.
    func removePasskey(
        _ digest: ArtefactDigest, of user: UserIdentifier, requiredRole: UserQuery.Role?,
        countingIdentitiesOf issuers: Set<String>, recording events: [AuditEvent]
    ) async throws(StoreFault) -> RemovePasskeyOutcome
    /// Deletes all passkeys of a user, also if no way in is left; returns false if none was deleted.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - requiredRole: The role that the user must have; nil for any.
    ///   - events: The events that describe the commit, which the store appends with it.
    func removePasskeys(
        of user: UserIdentifier, requiredRole: UserQuery.Role?, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
}

extension PasskeyStore {
    /// Deletes a passkey of a user with any role, unless it is the last way in.
    package func removePasskey(
        _ digest: ArtefactDigest, of user: UserIdentifier, countingIdentitiesOf issuers: Set<String> = [],
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RemovePasskeyOutcome {
        try await removePasskey(
            digest, of: user, requiredRole: nil, countingIdentitiesOf: issuers, recording: events)
    }
}

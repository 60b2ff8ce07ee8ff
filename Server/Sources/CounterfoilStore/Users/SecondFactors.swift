public import Foundation

/// The second factor of a user: a secret, which names it and is the key of the digests of its recovery codes.
///
/// An authenticator app has the secret, too (RFC 6238), or the user has security keys only.
public struct SecondFactor: Sendable, Hashable {
    /// The user who proves it after the password.
    public let userID: UserIdentifier
    /// The digest of the secret, which names this second factor.
    public let digest: ArtefactDigest
    /// The secret, encrypted with a key that is derived from the server key, and bound to the user.
    public let sealedSecret: [UInt8]
    /// The fingerprint of the server key that encrypted the secret.
    public let keyName: String
    /// The time of the setup.
    public let createdAt: Date
    /// Whether an authenticator app has the secret; if not, security keys and recovery codes prove the second factor.
    public let hasApp: Bool
    /// The time step of the last accepted code (RFC 6238 §5.2); a code of this step or an earlier one is refused.
    public var lastStep: Int64

    /// Creates the record of a second factor.
    public init(
        userID: UserIdentifier, digest: ArtefactDigest, sealedSecret: [UInt8], keyName: String, createdAt: Date,
        hasApp: Bool = true, lastStep: Int64
    ) {
        self.userID = userID
        self.digest = digest
        self.sealedSecret = sealedSecret
        self.keyName = keyName
        self.createdAt = createdAt
        self.hasApp = hasApp
        self.lastStep = lastStep
    }
}

/// The second factor of a user as a store has it.
public enum SecondFactorState: Sendable, Hashable {
    /// The user has none, or does not exist.
    case none
    /// The user has one, and this number of recovery codes that are not used.
    case active(SecondFactor, recoveryCodes: Int)
    /// The record of the user says that there is one, but the second factor itself is missing.
    ///
    /// No sign-in with the password succeeds until ``SecondFactorStore/resetSecondFactor(of:requiredRole:recording:)``.
    case lost
}

/// The proof of a second factor, which counts once.
public enum SecondFactorUse: Sendable, Hashable {
    /// A code of the second factor with this digest, for a time step after ``SecondFactor/lastStep``.
    case code(ArtefactDigest, step: Int64)
    /// A recovery code with this digest, which is deleted.
    case recoveryCode(ArtefactDigest)
    /// A security key or a passkey, beside the second factor with this digest.
    case key(ArtefactDigest, PasskeyUse)
    /// A browser that is remembered for the second factor with this digest.
    case remembered(ArtefactDigest)
    /// A proof of the second factor with this digest, which was recorded a few minutes before.
    case confirmed(ArtefactDigest)
    /// The setup of a second factor by a user who has none, with the digests of the recovery codes, and with the first
    /// security key if no app has the secret.
    case setup(SecondFactor, recoveryCodes: [ArtefactDigest], key: Passkey? = nil)
}

/// A change of a second factor by its user.
public enum SecondFactorChange: Sendable, Hashable {
    /// Nothing changes; the proof is recorded, so that it counts once.
    case confirmation
    /// The user has no second factor from now on.
    case removal
    /// Other recovery codes replace those that are left.
    case recoveryCodes([ArtefactDigest])
    /// Another secret with other recovery codes replaces the present one, and the sessions of the user end except the
    /// one with the digest `keeping`.
    case replacement(SecondFactor, recoveryCodes: [ArtefactDigest], keeping: ArtefactDigest?)
    /// The user can also prove the second factor by this security key.
    case keyAddition(Passkey)
    /// The security key with this digest of the credential ID proves nothing from now on.
    case keyRemoval(ArtefactDigest)
}

/// The outcome of ``SecondFactorStore/addSecondFactor(_:recoveryCodes:key:keeping:recording:)``.
public enum AddSecondFactorOutcome: Sendable, Hashable {
    /// The user needs a code after the password from now on.
    case added
    /// The user has a second factor already; nothing was written.
    case exists
    /// A user has a passkey or a security key with the credential ID of the new one; nothing was written.
    case keyExists
    /// The user does not exist or is disabled; nothing was written.
    case userNotActive
}

/// The outcome of ``SecondFactorStore/changeSecondFactor(of:to:proving:recording:)``.
public enum ChangeSecondFactorOutcome: Sendable, Hashable {
    /// The change was made.
    case changed
    /// The code was used before, or the second factor was replaced; nothing was written.
    case proofOutdated
    /// A user has a passkey or a security key with this credential ID (WebAuthn §7.1 step 26); nothing was written.
    case keyExists
    /// The user has ``Passkey/limitPerUser`` security keys already; nothing was written.
    case tooManyKeys
    /// The user has no such security key; nothing was written.
    case keyNotFound
    /// It is the only security key of a second factor without an app; nothing was written.
    case lastKey
    /// The user does not exist or is disabled; nothing was written.
    case userNotActive
}

/// The second factors of users, and their recovery codes.
///
/// A session begins with one by ``SessionStore/beginSession(_:proving:replacing:recording:)``, which also records the
/// use. The record of a user says that there is a second factor, so the loss of the second factor itself never turns
/// it off.
public protocol SecondFactorStore: Sendable {
    /// Reads the second factor of a user.
    func secondFactor(of user: UserIdentifier) async throws(StoreFault) -> SecondFactorState
    /// Reads the security keys of a user, oldest first, which prove the second factor as its codes do.
    ///
    /// A security key does not verify its user, so it begins no session without the password. Its record has the form
    /// of that of a passkey.
    func securityKeys(of user: UserIdentifier) async throws(StoreFault) -> [Passkey]
    /// Returns true if a user has a recovery code with this digest that is not used.
    func hasRecoveryCode(_ digest: ArtefactDigest, of user: UserIdentifier) async throws(StoreFault) -> Bool
    /// Adds a second factor to a user who has none, and ends the sessions of the user except `kept`, as
    /// ``SessionStore/signOutEverywhere(_:except:at:recording:)`` does.
    ///
    /// A second factor without an app has `key` as its first security key.
    func addSecondFactor(
        _ factor: SecondFactor, recoveryCodes: [ArtefactDigest], key: Passkey?, keeping kept: ArtefactDigest?,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSecondFactorOutcome
    /// Changes the second factor of a user who proves it, and records the use.
    func changeSecondFactor(
        of user: UserIdentifier, to change: SecondFactorChange, proving use: SecondFactorUse,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangeSecondFactorOutcome
    /// Removes the second factor of a user, also if its record is lost; returns false if the user has none, or has not
    /// the required role.
    func resetSecondFactor(
        of user: UserIdentifier, requiredRole: UserQuery.Role?, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Counts the second factors by the fingerprint of the server key that encrypted their secrets.
    func secondFactorKeys() async throws(StoreFault) -> [String: Int]
    /// Reads at most `limit` second factors whose secret was encrypted with another server key than the one with this
    /// fingerprint, after the one of a user.
    func secondFactors(
        notSealedBy keyName: String, after user: UserIdentifier?, limit: Int
    ) async throws(StoreFault) -> [SecondFactor]
    /// Replaces the encrypted form of a secret by another one of the same secret, unless another server has done so.
    func replaceSealedSecret(
        of factor: SecondFactor, with sealed: [UInt8], by keyName: String
    ) async throws(StoreFault)
}

extension SecondFactorStore {
    /// Removes the second factor of a user with any role.
    package func resetSecondFactor(
        of user: UserIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await resetSecondFactor(of: user, requiredRole: nil, recording: events)
    }
}

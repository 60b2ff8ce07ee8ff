@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The identifier of a user at another issuer: `iss` and `sub` together (OpenID Connect Core §2).
public struct ExternalSubject: Sendable, Hashable {
    /// The maximum length of ``issuer`` in bytes.
    public static let issuerLimit = 512
    /// The maximum length of ``subject`` in bytes (OpenID Connect Core §8).
    public static let subjectLimit = 255

    /// The issuer, `iss`.
    public let issuer: String
    /// The subject identifier at the issuer, `sub`, which distinguishes upper and lower case.
    public let subject: String

    /// Creates a pair; nil if a part is empty, too long, or contains a control character.
    public init?(issuer: String, subject: String) {
        guard Self.isValid(issuer, limit: Self.issuerLimit), Self.isValid(subject, limit: Self.subjectLimit) else {
            return nil
        }
        self.issuer = issuer
        self.subject = subject
    }

    private static func isValid(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

/// The identifier of an identity, by which pages and endings name it without the subject.
public struct UserIdentityIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The text form: `idn_` and 128 bits in base64url.
    public let rawValue: String

    private static let prefix = "idn_"
    private static let byteCount = 16

    /// Parses an identifier from a store or a form; nil if malformed.
    public init?(_ rawValue: String) {
        guard rawValue.hasPrefix(Self.prefix),
            Base64URL.decode(utf8: rawValue.utf8.dropFirst(Self.prefix.utf8.count))?.count == Self.byteCount
        else { return nil }
        self.rawValue = rawValue
    }

    /// Creates a random identifier.
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = Self.prefix + Base64URL.encode(random.bytes(Self.byteCount))
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// An identity of a user at another issuer, with which the user signs in.
public struct UserIdentity: Sendable, Hashable {
    /// The maximum number of identities of one user.
    public static let limitPerUser = 20

    /// The identifier.
    public let id: UserIdentityIdentifier
    /// The issuer and the subject, which belong to one user only.
    public let subject: ExternalSubject
    /// The user whom the identity signs in.
    public let userID: UserIdentifier
    /// The time at which the user got the identity.
    public let createdAt: Date
    /// The time of the last sign-in with the identity; nil if there was none.
    public var lastUsedAt: Date?

    /// Creates a record; by default the identity was never used.
    public init(
        id: UserIdentityIdentifier = UserIdentityIdentifier(), subject: ExternalSubject, userID: UserIdentifier,
        createdAt: Date, lastUsedAt: Date? = nil
    ) {
        self.id = id
        self.subject = subject
        self.userID = userID
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }
}

/// An identity with its user, read in one transaction.
public struct UserIdentityFacts: Sendable, Hashable {
    /// The identity.
    public let identity: UserIdentity
    /// The user whom it signs in, whose account may be disabled.
    public let user: User

    /// Creates facts that a store has read in one transaction.
    public init(identity: UserIdentity, user: User) {
        self.identity = identity
        self.user = user
    }
}

/// The outcome of ``UserIdentityStore/addIdentity(_:recording:)``.
public enum AddIdentityOutcome: Sendable, Hashable {
    /// The user can sign in with the identity from now on.
    case added
    /// The user has ``UserIdentity/limitPerUser`` identities already; nothing was written.
    case tooMany
    /// A user has an identity with this issuer and subject; nothing was written.
    case exists
    /// The user does not exist or is disabled; nothing was written.
    case userNotActive
}

/// The outcome of ``UserIdentityStore/addUser(_:with:recording:)``.
public enum AddIdentifiedUserOutcome: Sendable, Hashable {
    /// The account was created, and the user can sign in with the identity.
    case added
    /// A user has an identity with this issuer and subject; nothing was written.
    case identityExists
    /// A user, or a deleted user with records, has the identifier; nothing was written.
    case identifierTaken
    /// The username is taken; nothing was written.
    case usernameTaken
    /// The email address is taken; nothing was written.
    case emailTaken
}

/// The outcome of ``UserIdentityStore/removeIdentity(_:of:countingIdentitiesOf:recording:)``.
public enum RemoveIdentityOutcome: Sendable, Hashable {
    /// The user can no longer sign in with the identity.
    case removed
    /// The user has no such identity; nothing was written.
    case notFound
    /// Too few other ways in are left (``WaysIn``); nothing was written.
    case neededAsWayIn
}

/// The identities of users at other issuers.
///
/// No two users have the same issuer and subject. The deletion of a user deletes the identities of the user.
public protocol UserIdentityStore: Sendable {
    /// Reads an identity with its user; nil if there is none with this issuer and subject.
    func identity(_ subject: ExternalSubject) async throws(StoreFault) -> UserIdentityFacts?
    /// Reads the identities of a user, oldest first.
    func identities(of user: UserIdentifier) async throws(StoreFault) -> [UserIdentity]
    /// Adds an identity to an enabled user.
    func addIdentity(
        _ identity: UserIdentity, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddIdentityOutcome
    /// Adds a user with an identity in one transaction, so that two first sign-ins at once create one account.
    func addUser(
        _ user: User, with identity: UserIdentity, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddIdentifiedUserOutcome
    /// Deletes an identity, unless it is needed as a way in.
    ///
    /// - Parameters:
    ///   - id: The identity.
    ///   - user: The user.
    ///   - issuers: The issuers whose identities are ways in. An identity at another issuer is always deleted.
    ///   - events: The events that describe the commit, which the store appends with it.
    func removeIdentity(
        _ id: UserIdentityIdentifier, of user: UserIdentifier, countingIdentitiesOf issuers: Set<String>,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RemoveIdentityOutcome
}

@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The secret that authenticates a signed-in browser: the value of its session cookie.
public struct SessionToken: Secret {
    /// The value of the cookie, 43 characters of base64url.
    public let exposed: String

    /// Parses the value of a cookie; nil if malformed.
    public init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.decode(text) != nil else { return nil }
        exposed = text
    }

    /// Creates a token of 256 random bits.
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

/// The public identifier of a session, `sid` (OpenID Connect Back-Channel Logout §2.1).
///
/// Clients receive the identifier in tokens. It does not authenticate a browser.
public struct SessionIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The text of the identifier: `ses_` and 128 bits in base64url.
    public let rawValue: String
    /// The 128 bits of the identifier.
    package let bytes: [UInt8]

    private static let prefix = "ses_"
    private static let byteCount = 16

    /// Parses an identifier from a store or a token; nil if malformed.
    public init?(_ rawValue: String) {
        guard rawValue.hasPrefix(Self.prefix),
            let bytes = Base64URL.decode(utf8: rawValue.utf8.dropFirst(Self.prefix.utf8.count)),
            bytes.count == Self.byteCount
        else { return nil }
        self.rawValue = rawValue
        self.bytes = bytes
    }

    /// Creates a random identifier.
    public init(random: RandomBytes = RandomBytes()) {
        self.init(bytes: random.bytes(Self.byteCount))
    }

    package init(bytes: [UInt8]) {
        rawValue = Self.prefix + Base64URL.encode(bytes)
        self.bytes = bytes
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// The session of a signed-in browser.
public struct Session: Sendable, Hashable {
    /// The maximum number of sessions of one user.
    public static let limitPerUser = 50

    /// The digest of the session token.
    public let digest: ArtefactDigest
    /// The public identifier, `sid`.
    public var id: SessionIdentifier
    /// The user who signed in.
    public let userID: UserIdentifier
    /// The time when the user authenticated, `auth_time`.
    public let authenticatedAt: Date
    /// The methods by which the user authenticated, `amr`.
    public let methods: AuthenticationMethods
    /// The time of the last request of the browser, updated at most once a minute.
    public var lastSeenAt: Date
    /// The time when the session expires, even if it is in use.
    public let expiresAt: Date
    /// The `User-Agent` at sign-in, at most 256 printable ASCII characters; may be empty.
    public let userAgent: String
    /// The source IP address at sign-in, at most 64 bytes; may be empty.
    public let source: String
    /// Whether the browser keeps the session token when it is closed, in a persistent cookie (RFC 6265 §5.3).
    public let isPersistent: Bool

    /// Creates a record with at most the first 256 printable ASCII characters of `userAgent` and 64 bytes of `source`.
    public init(
        digest: ArtefactDigest,
        id: SessionIdentifier = SessionIdentifier(),
        userID: UserIdentifier,
        authenticatedAt: Date,
        methods: AuthenticationMethods = [.password],
        lastSeenAt: Date,
        expiresAt: Date,
        userAgent: String = "",
        source: String = "",
        isPersistent: Bool = false
    ) {
        self.digest = digest
        self.id = id
        self.userID = userID
        self.authenticatedAt = authenticatedAt
        self.methods = methods
        self.lastSeenAt = lastSeenAt
        self.expiresAt = expiresAt
        self.userAgent = String(
            decoding: userAgent.utf8.filter { (0x20...0x7E).contains($0) }.prefix(256), as: UTF8.self)
        self.source = source.prefix(bytes: 64)
        self.isPersistent = isPersistent
    }
}

/// A session with its user, read in one transaction.
public struct SessionFacts: Sendable, Hashable {
    /// The session, which may have expired.
    public let session: Session
    /// The user who signed in, whose account may have been disabled since.
    public let user: User

    /// Creates facts that a store has read in one transaction.
    public init(session: Session, user: User) {
        self.session = session
        self.user = user
    }
}

/// The proof of a user at a sign-in, which must still hold when the session begins.
public enum SignInProof: Sendable, Hashable {
    /// The password with this hash, of a user without a second factor.
    case password(PasswordHash)
    /// The password with this hash, and a second factor.
    case twoFactors(PasswordHash, SecondFactorUse)
    /// The password with this hash, or no password, of a user who has just set it, or whose session continues, after a
    /// proof by these
    /// methods.
    ///
    /// The code of a second factor is not asked for again.
    case continued(PasswordHash?, AuthenticationMethods)
    /// A passkey.
    case passkey(PasskeyUse)
    /// An identity at another issuer, which has signed the user in.
    case identity(UserIdentityIdentifier, ExternalAuthentication)
}

/// The outcome of ``SessionStore/beginSession(_:proving:replacing:recording:)``.
public enum BeginSessionOutcome: Sendable, Hashable {
    /// The session began with this `sid`, and the former session of the browser was deleted.
    case begun(SessionIdentifier)
    /// The user does not exist or is disabled; nothing was written.
    case userNotActive
    /// The password was changed, the passkey or the identity deleted, or the code used, after the server had verified
    /// it, or the user got a second factor; nothing was written.
    case proofOutdated
    /// The challenge of the passkey has begun a session before; nothing was written.
    case challengeUsed
}

/// The sessions of signed-in browsers.
///
/// Every transaction that ends a session also ends its dependents, at most once for each `sid`:
///
/// - It revokes the grants that single-page applications got in the session (RFC 10017 §6.3.2.3).
/// - It revokes the grants whose `device_code` is not redeemed yet (``CodeRecord/isDeviceCode``).
/// - It queues a logout notification for each client that registered for it (see ``LogoutDeliveryStore``).
///
/// A session that continues under its `sid` with a new token has not ended. When the end of a session revokes grants,
/// the consent stays, so that the user is not asked again at the next sign-in.
public protocol SessionStore: Sendable {
    /// Reads a session with its user, even if it has expired.
    func session(_ digest: ArtefactDigest) async throws(StoreFault) -> SessionFacts?
    /// Starts a session if the proof still holds, and replaces the former session of the browser.
    ///
    /// A password holds while its hash is stored, and a passkey or an identity until it is deleted. A session that
    /// continues without a password holds while none is stored. A password alone holds while the user has no second
    /// factor. A password that the user must change (``User/mustChangePassword``) does not hold. The use of a passkey,
    /// an identity or a second factor is recorded, and the challenge of a passkey or a security key begins no other
    /// session.
    ///
    /// If the former session belongs to the same user, the new session continues it: it has the same `sid` and a new
    /// token. A user who signs in again, for example for one client, is thus not signed out of other clients. If the
    /// former session belongs to another user, it ends with its dependents.
    ///
    /// A user has at most ``Session/limitPerUser`` sessions. If the new session exceeds this limit, the least
    /// recently used other sessions end with their dependents.
    func beginSession(
        _ session: Session,
        proving proof: SignInProof,
        replacing former: ArtefactDigest?,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> BeginSessionOutcome
    /// Records the time of a request in a session.
    ///
    /// Nothing changes if the session has ended or a later time is recorded.
    func touchSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault)
    /// Ends a session; returns false if there is no such session.
    @discardableResult
    func endSession(
        _ digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Reads the sessions of a user, most recently used first, including expired ones.
    func sessions(of user: UserIdentifier) async throws(StoreFault) -> [Session]
    /// Ends a session of a user; returns false if the user has no such session.
    func endSession(
        _ digest: ArtefactDigest, of user: UserIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Ends every session of a user except `kept`, and revokes every grant that was not given in that session, or that
    /// is of a separate device (``GrantDevice/isSeparate``).
    ///
    /// Grants of clients of every type are revoked, not only those of single-page applications. If `kept` is nil or
    /// not a session of the user, every session ends and every grant is revoked. The events are appended in every case.
    ///
    /// - Returns: The number of sessions that ended.
    @discardableResult
    func signOutEverywhere(
        _ user: UserIdentifier, except kept: ArtefactDigest?, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Int
    /// Ends the dependents of a session that is not valid: it has expired, was last used at or before `idle`, or no
    /// longer exists.
    ///
    /// The store deletes the session if it still exists. A valid session is not changed.
    ///
    /// The server calls this method when an ID token hint names a session that is not valid. Anyone with an old ID
    /// token can cause the call. If there is nothing to end, the store therefore writes nothing and takes no write
    /// lock.
    func revokeDependents(
        ofSession session: SessionIdentifier, notSeenSince idle: Date, at time: Date
    ) async throws(StoreFault)
}

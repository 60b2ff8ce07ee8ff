public import CounterfoilProtocol
public import Foundation

/// The secret of a browser that has signed in; the value of its cookie.
public struct SessionToken: Secret {
    /// The value of the cookie.
    public let exposed: String

    /// A token as it came from a cookie, or nil when it cannot be one.
    public init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.decode(text) != nil else { return nil }
        exposed = text
    }

    /// A token of 256 random bits.
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

/// The public name of a session, which applications know: it opens nothing.
///
/// Wire name `sid`, OpenID Connect Back-Channel Logout §2.1.
public struct SessionIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The name as it stands in tokens.
    public let rawValue: String
    /// The 128 bits that it stands for.
    let bytes: [UInt8]

    private static let prefix = "ses_"
    private static let byteCount = 16

    /// A name that a store or a token holds, or nil.
    public init?(_ rawValue: String) {
        guard rawValue.hasPrefix(Self.prefix),
            let bytes = Base64URL.decode(utf8: rawValue.utf8.dropFirst(Self.prefix.utf8.count)),
            bytes.count == Self.byteCount
        else { return nil }
        self.rawValue = rawValue
        self.bytes = bytes
    }

    /// A new name of 128 random bits.
    public init(random: RandomBytes = RandomBytes()) {
        self.init(bytes: random.bytes(Self.byteCount))
    }

    /// The name of 16 bytes.
    init(bytes: [UInt8]) {
        rawValue = Self.prefix + Base64URL.encode(bytes)
        self.bytes = bytes
    }

    /// The name as it stands in tokens.
    public var description: String { rawValue }
}

/// A browser that has signed in.
public struct Session: Sendable, Hashable {
    /// The most sessions of one user.
    public static let limitPerPerson = 50

    /// The digest of its token.
    public let digest: ArtefactDigest
    /// Its public name, `sid`.
    public var id: SessionIdentifier
    /// Who signed in.
    public let personID: PersonIdentifier
    /// When the person proved who they are, `auth_time`.
    public let authenticatedAt: Date
    /// When the browser was last seen, exact to a minute.
    public var lastSeenAt: Date
    /// When the session ends at the latest.
    public let expiresAt: Date
    /// What the browser called itself when the person signed in, at most 256 printable ASCII characters; may be empty.
    public let userAgent: String
    /// The address that the person signed in from.
    public let source: String

    /// Makes a record.
    public init(
        digest: ArtefactDigest,
        id: SessionIdentifier = SessionIdentifier(),
        personID: PersonIdentifier,
        authenticatedAt: Date,
        lastSeenAt: Date,
        expiresAt: Date,
        userAgent: String = "",
        source: String = ""
    ) {
        self.digest = digest
        self.id = id
        self.personID = personID
        self.authenticatedAt = authenticatedAt
        self.lastSeenAt = lastSeenAt
        self.expiresAt = expiresAt
        self.userAgent = String(
            decoding: userAgent.utf8.filter { (0x20...0x7E).contains($0) }.prefix(256), as: UTF8.self)
        self.source = source.prefix(bytes: 64)
    }
}

/// A session with the person whose it is, read at once.
public struct SessionFacts: Sendable, Hashable {
    /// The session.
    public let session: Session
    /// Whose it is.
    public let person: Person

    /// Makes facts.
    public init(session: Session, person: Person) {
        self.session = session
        self.person = person
    }
}

/// What happened when a session was to begin.
public enum BeginSessionOutcome: Sendable, Hashable {
    /// The session exists now by this name, and the one that it replaces does not.
    case begun(SessionIdentifier)
    /// The person does not exist or may not sign in any more; nothing was written.
    case personGone
    /// The password is not the one that was proved any more; nothing was written.
    case passwordChanged
}

/// The browsers that have signed in.
///
/// With each session that ends, in the same step: grants of single-page applications that were allowed in it are revoked
/// (OAuth 2.0 for Browser-Based Applications §6.3), and the applications that have asked for it are to be told (see
/// ``LogoutDeliveryStore``), each once for a session, however often the end is noticed.
public protocol SessionStore: Sendable {
    /// The session of a digest with its person, also when it has expired.
    func session(_ digest: ArtefactDigest) async throws(StoreFault) -> SessionFacts?
    /// Begins a session for who proved the password that is stored now, in place of the one that the same browser had before, in
    /// one step.
    ///
    /// Where that was the same person's, it goes on under its name, by another token: whoever signs in once more, perhaps because
    /// one application asked for it, is signed out of no other. Somebody else's ends with what hangs on it.
    ///
    /// A password that is changed while somebody signs in with the former one lets nobody in.
    ///
    /// A user has at most ``Session/limitPerPerson`` sessions: beyond that, those that were not seen for longest end with what hangs
    /// on them, never the new one.
    func beginSession(
        _ session: Session,
        proving password: PasswordHash,
        replacing former: ArtefactDigest?
    ) async throws(StoreFault) -> BeginSessionOutcome
    /// Notes that a browser was seen; does nothing when the session has ended.
    func touchSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault)
    /// Ends a session; true when there was one.
    @discardableResult
    func endSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> Bool
    /// The sessions of a person, last seen first, also those that have expired.
    func sessions(of person: PersonIdentifier) async throws(StoreFault) -> [Session]
    /// Ends a session of a person; false when the person has none of this digest.
    func endSession(
        _ digest: ArtefactDigest, of person: PersonIdentifier, at time: Date
    ) async throws(StoreFault) -> Bool
    /// Signs a person out everywhere but in one browser, or everywhere: ends every other session and revokes what applications of
    /// any type were given outside that one; how many sessions there were.
    @discardableResult
    func signOutEverywhere(
        _ person: PersonIdentifier, except kept: ArtefactDigest?, at time: Date
    ) async throws(StoreFault) -> Int
    /// Ends what hangs on a session that is over: one that has expired, that was not seen since a moment, or that is forgotten.
    ///
    /// Where there is nothing to end, nothing is written and no writer waits.
    func endWhatHangs(
        on session: SessionIdentifier, notSeenSince idle: Date, at time: Date
    ) async throws(StoreFault)
}

@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The secret in a link with which a person creates an account.
package struct SignUpSecret: Secret {
    package let exposed: String

    /// Generates a text of 256 random bits.
    package init(random: RandomBytes = RandomBytes()) { exposed = Base64URL.encode(random.bytes(32)) }

    /// Parses a secret from a link; nil if it is too long to be one.
    package init?(_ presented: String) {
        guard presented.utf8.count <= 64 else { return nil }
        exposed = presented
    }
}

/// A link with which an administrator lets a person create one account.
public struct Invitation: Sendable, Hashable {
    /// The digest of the secret in the link.
    public let digest: ArtefactDigest
    /// The email address of the account; nil for an account without one.
    public let email: EmailAddress?
    /// Whether the link was sent to the address, so that its use verifies the address.
    public let isMailed: Bool
    /// The role of the account; nil for none.
    public let role: UserRole?
    /// The client that the person is invited to use; nil for none.
    public let clientID: ClientIdentifier?
    /// The time of creation.
    public let createdAt: Date
    /// The time from which the link cannot be used.
    public let expiresAt: Date

    /// The maximum number of invitations that are not used and have not expired.
    package static let limit = 1000

    /// Creates a record.
    public init(
        digest: ArtefactDigest, email: EmailAddress? = nil, isMailed: Bool = false, role: UserRole? = nil,
        clientID: ClientIdentifier? = nil, createdAt: Date, expiresAt: Date
    ) {
        self.digest = digest
        self.email = email
        self.isMailed = isMailed
        self.role = role
        self.clientID = clientID
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// Twelve hexadecimal digits that tell the invitations apart in documents and events.
    ///
    /// They are derived from ``digest`` by a second hash, and so contain no part of it.
    package var shortID: String {
        ArtefactDigest(naming: self).bytes.prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// A request for an account by a person whose email address is not verified yet.
public struct SignUp: Sendable, Hashable {
    /// The digest of the secret in the link that was sent to the address.
    public let digest: ArtefactDigest
    /// The email address.
    public let email: EmailAddress
    /// The digest of the cookie of the browser that asked; only this browser can use the link.
    public let browser: ArtefactDigest
    /// The authorization request to continue with, as a query; empty for none.
    public let pendingRequest: String
    /// The time from which the link cannot be used.
    public let expiresAt: Date

    /// Creates a record.
    public init(
        digest: ArtefactDigest, email: EmailAddress, browser: ArtefactDigest, pendingRequest: String, expiresAt: Date
    ) {
        self.digest = digest
        self.email = email
        self.browser = browser
        self.pendingRequest = pendingRequest
        self.expiresAt = expiresAt
    }
}

/// The link with which a person creates an account, by the digest of its secret.
public enum SignUpLink: Sendable, Hashable {
    /// An ``Invitation``.
    case invitation(ArtefactDigest)
    /// A ``SignUp``.
    case signUp(ArtefactDigest)
}

/// The outcome of ``SignUpStore/addInvitation(_:sending:recording:)``.
public enum AddInvitationOutcome: Sendable, Hashable {
    /// The link can be used.
    case added
    /// A user has the email address already; nothing was written.
    case emailTaken
    /// 1,000 invitations can be used; nothing was written.
    case tooMany
    /// ``NewMail/queueLimit`` mails wait; nothing was written.
    case queueFull
}

/// The outcome of ``SignUpStore/beginSignUp(_:sending:recording:)``.
public enum BeginSignUpOutcome: Sendable, Hashable {
    /// The mail is queued.
    case queued
    /// ``NewMail/queueLimit`` mails wait; nothing was written.
    case queueFull
}

/// The outcome of ``SignUpStore/addUser(_:by:at:recording:)``.
public enum SignUpOutcome: Sendable, Hashable {
    /// The account was created, and the link is used up.
    case added
    /// The username is taken; nothing was written, and the link can be used again.
    case usernameTaken
    /// Another user has the email address; nothing was written.
    case emailTaken
    /// The link was used, withdrawn, or has expired, or is for another address; nothing was written.
    case linkOver
}

/// The links with which persons create their own accounts, and the terms that users have accepted.
public protocol SignUpStore: Sendable {
    /// Stores an invitation, and queues its mail, unless a user has the email address, or a limit is reached.
    func addInvitation(
        _ invitation: Invitation, sending mail: NewMail?, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddInvitationOutcome
    /// Reads the invitations that are not used, oldest first, even if they have expired.
    func invitations() async throws(StoreFault) -> [Invitation]
    /// Reads an invitation; nil if there is none, or if it has expired.
    func invitation(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> Invitation?
    /// Deletes an invitation; returns false if there is none.
    func removeInvitation(_ digest: ArtefactDigest, recording events: [AuditEvent]) async throws(StoreFault) -> Bool
    /// Stores a request for an account, and queues the mail about it.
    ///
    /// The work is the same whether a user has the address or not.
    func beginSignUp(
        _ signUp: SignUp, sending mail: NewMail, recording events: [AuditEvent]
    ) async throws(StoreFault) -> BeginSignUpOutcome
    /// Reads a request for an account; nil if there is none, or if it has expired.
    func signUp(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> SignUp?
    /// Uses up a link, and adds the user with it, in one transaction.
    ///
    /// All other links to the address of the user are deleted.
    ///
    /// - Parameters:
    ///   - user: The user, whose address is that of the link.
    ///   - link: The link.
    ///   - time: The time of the request.
    ///   - events: The events that describe the commit, which the store appends with it.
    func addUser(
        _ user: User, by link: SignUpLink, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> SignUpOutcome
    /// Notes that a user has accepted a version of the terms; returns false if there is no such user.
    func acceptTerms(
        _ terms: AcceptedTerms, by user: UserIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
}

@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The identifier of a mail, from which its `Message-ID` is made (RFC 5322 §3.6.4).
public struct MailIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// 32 hexadecimal digits.
    public let rawValue: String

    private static let digits = Set("0123456789abcdef".utf8)

    /// Parses an identifier from a store; nil if malformed.
    public init?(_ rawValue: String) {
        guard rawValue.utf8.count == 32, rawValue.utf8.allSatisfy(Self.digits.contains) else { return nil }
        self.rawValue = rawValue
    }

    /// Creates a random identifier of 128 bits.
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = random.bytes(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// A mail to a user that is to be sent.
public struct NewMail: Sendable, Hashable {
    /// The maximum number of mails that wait in a store.
    ///
    /// Only mails that users ask for count; a notice is queued also above it.
    public static let queueLimit = 10_000
    /// The time in seconds for which an expired mail is stored, so that a server that sends mails gives it up and logs
    /// that.
    package static let expiredRetention: TimeInterval = 3600

    /// The identifier, unique in the store.
    public let id: MailIdentifier
    /// The user to whom the mail goes, and with whom it is deleted; nil for a mail to a person without an account.
    public let userID: UserIdentifier?
    /// The kind, the address, the language and the link of the mail, encrypted with the server key.
    public let sealed: [UInt8]
    /// The time at which the mail is queued, which becomes its `Date`.
    public let createdAt: Date
    /// The time after which the mail is no longer sent.
    public let expires: Date

    /// Creates a mail that is due at once.
    public init(id: MailIdentifier, userID: UserIdentifier?, sealed: [UInt8], createdAt: Date, expires: Date) {
        self.id = id
        self.userID = userID
        self.sealed = sealed
        self.createdAt = createdAt
        self.expires = expires
    }
}

/// A mail that a server has taken from the queue, and that no other server takes until the lease ends.
public struct QueuedMail: Sendable, Hashable {
    /// The mail.
    public let mail: NewMail
    /// The number of failed attempts to send it.
    public let attempts: Int
    /// The time at which the lease ends.
    public let leasedUntil: Date

    /// Creates a mail that a store has taken from its queue.
    public init(mail: NewMail, attempts: Int, leasedUntil: Date) {
        self.mail = mail
        self.attempts = attempts
        self.leasedUntil = leasedUntil
    }
}

/// The result of an attempt to send a mail.
public enum MailSettlement: Sendable, Hashable {
    /// The mail was sent, or must not be sent any more; it is deleted.
    case done
    /// The attempt failed, and the next one follows at `retryAt`.
    case failed(retryAt: Date)
    /// The attempt was cut off before the mail was handed over, and the mail is due at `dueAt`.
    case untried(dueAt: Date)
}

/// The number and age of the queued mails.
public struct MailBacklog: Sendable, Hashable {
    /// The number of mails up to which they are counted.
    public static let limit = 10_000

    /// The number of queued mails, including those that are being sent; at most ``limit``.
    public let count: Int
    /// The time when the oldest queued mail was queued; nil if none is queued.
    public let oldest: Date?

    /// Creates a record; `oldest` is nil if `count` is 0.
    public init(count: Int, oldest: Date?) {
        self.count = count
        self.oldest = oldest
    }
}

/// The secret in a one-time link of a user.
package struct MailLinkSecret: Secret {
    package let exposed: String

    /// Generates a text of 256 random bits.
    package init(random: RandomBytes = RandomBytes()) { exposed = Base64URL.encode(random.bytes(32)) }

    /// Parses a secret from a link; nil if it is too long to be one.
    package init?(_ presented: String) {
        guard presented.utf8.count <= 64 else { return nil }
        exposed = presented
    }
}

/// A link that was sent to an email address; its reader proves to have the address, which becomes that of the user.
public struct EmailVerification: Sendable, Hashable {
    /// The user who asked for the link.
    public let userID: UserIdentifier
    /// The address to which the link was sent.
    public let email: EmailAddress
    /// The address that the user has until then, which can be the same; nil for none.
    public let former: EmailAddress?
    /// The digest of the secret in the link.
    public let digest: ArtefactDigest
    /// The time after which the link proves nothing.
    public let expires: Date

    /// Creates a record of a link.
    public init(
        userID: UserIdentifier, email: EmailAddress, replacing former: EmailAddress?, digest: ArtefactDigest,
        expires: Date
    ) {
        self.userID = userID
        self.email = email
        self.former = former
        self.digest = digest
        self.expires = expires
    }
}

/// The outcome of ``MailStore/beginEmailVerification(_:sending:recording:)``.
public enum BeginEmailVerificationOutcome: Sendable, Hashable {
    /// The mail is queued, and only its link is valid.
    case queued
    /// The user has another address than ``EmailVerification/former``, or is disabled; nothing was written.
    case addressChanged
    /// ``NewMail/queueLimit`` mails wait; nothing was written.
    case queueFull
}

/// The queue of mails, and the links that verify email addresses.
///
/// SMTP has no commit that covers two systems. A server leases a mail, sends it, and notes the outcome. If it ends
/// after the mail server has accepted the mail and before the note, the mail is sent a second time after the lease,
/// with the same `Message-ID`.
public protocol MailStore: Sendable {
    /// Stores a link in place of the user's former one, and queues a mail, in one transaction.
    ///
    /// The mail has the link, or notifies the user who has the address.
    func beginEmailVerification(
        _ verification: EmailVerification, sending mail: NewMail, recording events: [AuditEvent]
    ) async throws(StoreFault) -> BeginEmailVerificationOutcome
    /// Reads the newest link of a user, even if it has expired; nil if there is none.
    func emailVerification(of user: UserIdentifier) async throws(StoreFault) -> EmailVerification?
    /// Uses up a link: its address becomes that of the user, with ``UserProfile/isEmailVerified``.
    ///
    /// - Returns: False if the link was used, replaced, or has expired, if the user has another address than
    ///   ``EmailVerification/former``, if another user has the address of the link, or if the user is disabled; nothing
    ///   was written.
    func verifyEmail(
        of user: UserIdentifier, proving digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
    /// Takes at most `limit` due mails, those first that are due earliest, so that no other caller takes them before
    /// `later`.
    func takeMails(dueAt now: Date, until later: Date, limit: Int) async throws(StoreFault) -> [QueuedMail]
    /// Records the result of an attempt; if the lease has ended and another server has taken the mail, only
    /// ``MailSettlement/done`` counts.
    func settleMail(_ mail: QueuedMail, _ settlement: MailSettlement) async throws(StoreFault)
    /// Reads the number and age of the queued mails, for metrics.
    func mailBacklog() async throws(StoreFault) -> MailBacklog
}

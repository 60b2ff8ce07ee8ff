public import Foundation

/// A one-time link by which a user who cannot sign in sets a new password.
public struct UserLink: Sendable, Hashable {
    /// The way in which the user gets the link.
    ///
    /// A user has at most one valid link of an operator, and one of a mail for each browser.
    public enum Origin: Sendable, Hashable {
        /// An operator has created the link with a command, and gives it to the user.
        case `operator`
        /// The link is in a mail for which the user has asked.
        case mail(Request)
    }

    /// The request of a user for a mail with a link.
    public struct Request: Sendable, Hashable {
        /// The address to which the mail goes; the link works as long as it is that of the user.
        public let email: EmailAddress
        /// The digest of the token of the browser in which the user has asked, and in which alone the link works.
        public let browser: ArtefactDigest
        /// The path and query at which the sign-in continues after the link; empty for none.
        public let destination: String

        /// The maximum size of ``destination`` in bytes; a longer one is not stored.
        package static let destinationLimit = 32 * 1024

        /// Creates the record of a request.
        public init(email: EmailAddress, browser: ArtefactDigest, destination: String) {
            self.email = email
            self.browser = browser
            self.destination = destination.utf8.count <= Self.destinationLimit ? destination : ""
        }
    }

    /// The digest of the secret in the link.
    public let digest: ArtefactDigest
    /// The user who gets back into the account.
    public let userID: UserIdentifier
    /// The way in which the user gets the link.
    public let origin: Origin
    /// The time after which the link is not valid.
    public let expires: Date
    /// The role that the user must have when the link is stored; nil for any, and for a link that was read.
    public let requiredRole: UserQuery.Role?

    /// The maximum number of links in mails that a user has at once; a further one replaces the oldest.
    ///
    /// Strangers can ask for mails, too, so their links must not replace that of the user. The limits of mails allow
    /// them fewer.
    package static let mailsPerUser = 20

    /// Creates the record of a link.
    public init(
        digest: ArtefactDigest, userID: UserIdentifier, origin: Origin, expires: Date,
        requiredRole: UserQuery.Role? = nil
    ) {
        self.digest = digest
        self.userID = userID
        self.origin = origin
        self.expires = expires
        self.requiredRole = requiredRole
    }
}

/// A link with its user, read in one transaction.
public struct UserLinkFacts: Sendable, Hashable {
    /// The link, which may have expired.
    public let link: UserLink
    /// The user, whose account may have been disabled since.
    public let user: User

    /// Creates facts that a store has read in one transaction.
    public init(link: UserLink, user: User) {
        self.link = link
        self.user = user
    }
}

/// The outcome of ``UserLinkStore/addUserLink(_:sending:recording:)``.
public enum AddUserLinkOutcome: Sendable, Hashable {
    /// The link is valid, and the former one of its origin and browser is not.
    case added
    /// The user does not exist or is disabled, has another address than that of the mail, or another role than
    /// ``UserLink/requiredRole``; nothing was written.
    case userNotActive
    /// ``NewMail/queueLimit`` mails wait; nothing was written.
    case queueFull
}

/// A new password, or a passkey in place of it, that a user sets without a session.
public struct PasswordReset: Sendable, Hashable {
    /// The reason for which the user may set a password.
    public enum Permission: Sendable, Hashable {
        /// The user has a one-time link with this digest, and proves the second factor if there is one.
        case link(ArtefactDigest, SecondFactorUse?)
        /// The user has a recovery code with this digest.
        case recoveryCode(ArtefactDigest)
        /// The user has proved the former password, and the second factor if there is one.
        case formerPassword(SecondFactorUse?)
        /// An operator has set the password, with a command or at the API.
        ///
        /// `isTemporary` says that the user must choose another one at the next sign-in. `requiredRole` is the role
        /// that the user must have; nil for any.
        case `operator`(isTemporary: Bool, requiredRole: UserQuery.Role? = nil)
    }

    /// The user.
    public let userID: UserIdentifier
    /// The reason for which the user may set a password.
    public let permission: Permission
    /// The hash of the password that is replaced; nil if the account has none.
    public let former: PasswordHash?
    /// The new way in.
    public let new: Replacement

    /// The way in that a user gets in place of the former password.
    public enum Replacement: Sendable, Hashable {
        /// The password with this hash.
        case password(PasswordHash)
        /// A passkey, after which the account has no password.
        case passkey(Passkey)
    }

    /// Creates the record of a new way in.
    public init(of user: User, by permission: Permission, to new: Replacement) {
        userID = user.id
        self.permission = permission
        former = user.passwordHash
        self.new = new
    }

    /// Creates the record of a new password.
    public init(of user: User, by permission: Permission, to new: PasswordHash) {
        self.init(of: user, by: permission, to: .password(new))
    }
}

/// The outcome of ``UserLinkStore/resetPassword(_:at:recording:)``.
public enum ResetPasswordOutcome: Sendable, Hashable {
    /// The password was set, and everything that the former one gave access to has ended.
    case reset
    /// The link or the code was used, the link has expired, the password or the second factor was changed, the role is
    /// not the required one, or the passkey cannot be added; nothing was written.
    case permissionOutdated
    /// The user does not exist or is disabled; nothing was written.
    case userNotActive
}

/// The one-time links of users, and the passwords that are set without a session.
public protocol UserLinkStore: Sendable {
    /// Stores a link in place of the user's former one of its origin and browser, and queues the mail with it, in one
    /// transaction.
    func addUserLink(
        _ link: UserLink, sending mail: NewMail?, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddUserLinkOutcome
    /// Reads a link with its user, even if the link has expired; nil if it was used or replaced, or if it has ended
    /// with a change of the account.
    ///
    /// A link ends with a new password of the user, when the user is disabled, and with a role that gives a right. A
    /// link in a mail also ends when the address of the user changes.
    func userLink(_ digest: ArtefactDigest) async throws(StoreFault) -> UserLinkFacts?
    /// Sets a password, if the permission still holds, and uses the permission up.
    ///
    /// In the same transaction the store ends all sessions, grants and codes of the user, as
    /// ``UserStore/changePassword(of:from:to:keeping:countingIdentitiesOf:at:recording:)`` does, and deletes all links
    /// of the user. A link from a mail also sets ``UserProfile/isEmailVerified``.
    ///
    /// - Parameters:
    ///   - reset: The new password, and the permission to set it.
    ///   - time: The time of the change.
    ///   - events: The events that describe the commit, which the store appends with it.
    func resetPassword(
        _ reset: PasswordReset, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ResetPasswordOutcome
}

@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The identifier of a user, which is the public `sub` of tokens (OpenID Connect Core §8).
///
/// The identifier never changes and is never reassigned. One that this server has made begins with `per_`. An imported
/// user keeps the identifier of the former server. No client has the identifier of a user, so that the two kinds cannot
/// be confused (RFC 9700 §4.15): those that this server makes have prefixes, and a store refuses an equal one.
public struct UserIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length in bytes, which is that of the user handle of a passkey (WebAuthn §4).
    public static let limit = 64

    /// The text form.
    public let rawValue: String

    /// Parses an identifier from a store, a token or a request; nil if malformed.
    ///
    /// It has 1 to 64 letters, digits and characters of `-._|:@+=`. The prefixes `app_` and `api_` belong to clients.
    public init?(_ rawValue: String) {
        guard (1...Self.limit).contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy({ $0.isLetterOrDigit || Self.others.contains($0) }),
            !rawValue.utf8.allSatisfy({ $0 == UInt8(ascii: ".") }),
            !rawValue.hasPrefix("app_"), !rawValue.hasPrefix("api_")
        else { return nil }
        self.rawValue = rawValue
    }

    private static let others = Array("-._|:@+=".utf8)

    /// Whether this server has made the identifier, which is not a pseudonym.
    public var isOwn: Bool { rawValue.hasPrefix(Self.ownPrefix) }

    /// Whether the identifier can be that of an imported user: another server has made it, or this software.
    ///
    /// A pairwise identifier and a pseudonym also begin with `per_`, and are longer.
    public var isImportable: Bool { !isOwn || rawValue.utf8.count == Self.ownPrefix.utf8.count + 22 }

    private static let ownPrefix = "per_"

    /// Creates a random identifier of 128 bits.
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = Self.ownPrefix + Base64URL.encode(random.bytes(16))
    }

    /// Creates an identifier from a text that has the form of one.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// A username in canonical form: 1 to 64 lower-case ASCII letters, digits and `. _ -`.
///
/// Capitals become lower case, and what keyboards add is removed. Other characters, such as letters with accents, are
/// refused and not converted. Two usernames thus never differ only in case or accents. An `@` is refused, so that a
/// username is never an email address.
public struct Username: Sendable, Hashable, CustomStringConvertible {
    /// The canonical spelling.
    public let rawValue: String

    /// Parses a username as typed; nil if it is not valid.
    public init?(_ typed: String) {
        let typed = typed.asTypedName()
        // This check precedes `lowercased()`, which turns some non-ASCII letters into ASCII, such as U+212A KELVIN
        // SIGN into `k`.
        guard typed.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let lowered = typed.lowercased()
        guard (1...64).contains(lowered.utf8.count),
            lowered.utf8.allSatisfy({ byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            })
        else { return nil }
        rawValue = lowered
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// An email address in canonical form: ASCII, in lower case, with one `@`, at most 254 bytes.
public struct EmailAddress: Sendable, Hashable, CustomStringConvertible {
    /// The canonical spelling.
    public let rawValue: String

    /// Parses an address as typed, without what keyboards add; nil if it is not valid.
    public init?(_ typed: String) {
        let typed = typed.asTypedName()
        let bytes = typed.utf8
        guard bytes.count <= 254, bytes.allSatisfy({ (0x21...0x7E).contains($0) && !Self.excluded.contains($0) }),
            let at = bytes.firstIndex(of: UInt8(ascii: "@")), at != bytes.startIndex
        else { return nil }
        let domain = bytes[bytes.index(after: at)...]
        guard !domain.isEmpty, !domain.contains(UInt8(ascii: "@")) else { return nil }
        rawValue = typed.lowercased()
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }

    private static let excluded = Array("\"(),:;<>[\\]".utf8)
}

/// A version of the terms of the service that a user has accepted.
public struct AcceptedTerms: Sendable, Hashable {
    /// The version, as the operator names it.
    public let version: String
    /// The time at which the user accepted it.
    public let acceptedAt: Date

    /// Creates a record.
    public init(version: String, acceptedAt: Date) {
        self.version = version
        self.acceptedAt = acceptedAt
    }
}

/// A user account.
public struct User: Sendable, Hashable {
    /// The identifier, which is the public `sub` of tokens.
    public let id: UserIdentifier
    /// The username, unique among all accounts.
    public var username: Username
    /// The email address, unique among all accounts; nil if unknown.
    public var email: EmailAddress?
    /// The display name, at most 100 characters; the claim `name`.
    public var displayName: String
    /// The Argon2 hash of the password; nil for a user without one.
    public var passwordHash: PasswordHash?
    /// The role in the administration of the server; nil for none.
    ///
    /// Only ``UserStore/setRole(_:of:from:at:recording:)`` changes it.
    public var role: UserRole?
    /// The claims about the user other than name and email address.
    public var profile: UserProfile
    /// The terms that the user accepted last; nil for none.
    ///
    /// Only ``SignUpStore/acceptTerms(_:by:recording:)`` changes them.
    public var acceptedTerms: AcceptedTerms?
    /// The time when the account was created.
    public var createdAt: Date
    /// The time of the last ``UserStore/updateUser(_:from:at:recording:)``, `updated_at`; initially ``createdAt``.
    public var changedAt: Date
    /// The time when the account was disabled; nil if it is enabled.
    public var disabledAt: Date?
    /// Whether the password begins no session until the user has chosen another one.
    public var mustChangePassword: Bool
    /// The identifier that a directory has for the user; nil if none has set one.
    public var externalID: ExternalIdentifier?

    /// Creates a record; by default it is a new, enabled account without a role.
    public init(
        id: UserIdentifier = UserIdentifier(),
        username: Username,
        email: EmailAddress?,
        displayName: String,
        passwordHash: PasswordHash?,
        role: UserRole? = nil,
        profile: UserProfile = UserProfile(),
        acceptedTerms: AcceptedTerms? = nil,
        createdAt: Date,
        changedAt: Date? = nil,
        disabledAt: Date? = nil,
        mustChangePassword: Bool = false,
        externalID: ExternalIdentifier? = nil
    ) {
        self.id = id
        self.username = username
        self.email = email
        self.displayName = displayName
        self.passwordHash = passwordHash
        self.role = role
        self.profile = profile
        self.acceptedTerms = acceptedTerms
        self.createdAt = createdAt
        self.changedAt = changedAt ?? createdAt
        self.disabledAt = disabledAt
        self.mustChangePassword = mustChangePassword
        self.externalID = externalID
    }
}

/// The outcome of ``UserStore/addUser(_:recording:)`` and ``UserStore/addFirstOwner(_:recording:)``.
public enum AddUserOutcome: Sendable, Hashable {
    /// The account was created, and the user can sign in unless it is disabled.
    case added
    /// The username is taken; nothing was written.
    case usernameTaken
    /// The email address is taken; nothing was written.
    case emailTaken
    /// An owner exists already, so the user cannot be the first one; nothing was written.
    case ownerExists
}

/// The outcome of ``UserStore/changePassword(of:from:to:keeping:countingIdentitiesOf:at:recording:)``.
public enum ChangePasswordOutcome: Sendable, Hashable {
    /// The password was changed, added or removed.
    ///
    /// All sessions of the user have ended, except the one to keep, and unredeemed codes are invalid.
    case changed
    /// Another request changed the password after the server had verified the former one; nothing was written.
    case changedMeanwhile
    /// The password cannot be removed, because too few other ways in are left (``WaysIn``); nothing was written.
    case neededAsWayIn
    /// The user does not exist or is disabled; nothing was written.
    case userNotActive
}

/// The outcome of ``UserStore/updateUser(_:from:at:recording:)``.
public enum UpdateUserOutcome: Sendable, Hashable {
    /// The account was changed, and ``User/changedAt`` was set.
    case updated
    /// There is no such user; nothing was written.
    case notFound
    /// The name, the address, the profile, the external identifier or the role has been changed since it was read;
    /// nothing was written.
    case changedMeanwhile
    /// Another user has this email address; nothing was written.
    case emailTaken
}

/// The outcome of ``UserStore/disableUser(_:requiredRole:at:recording:)``,
/// ``UserStore/enableUser(_:at:recording:)`` and ``UserStore/setRole(_:of:from:at:recording:)``.
public enum ChangeStandingOutcome: Sendable, Hashable {
    /// The account was changed as the caller asked.
    case changed
    /// The account is already as the caller asked; nothing was written.
    case unchanged
    /// There is no such user; nothing was written.
    case notFound
    /// The role has been changed since it was read; nothing was written.
    case changedMeanwhile
    /// No other owner could sign in; nothing was written.
    case lastOwner
}

/// The user accounts; no two have the same username or email address.
///
/// No operation leaves a store without an owner who can sign in, if it has one.
public protocol UserStore: Sendable {
    /// Reads the user with an identifier, even if disabled.
    func user(_ id: UserIdentifier) async throws(StoreFault) -> User?
    /// Reads the user with a username, even if disabled.
    func user(named username: Username) async throws(StoreFault) -> User?
    /// Reads the identifier of the user with a username, and no other value of the record.
    func userID(named username: Username) async throws(StoreFault) -> UserIdentifier?
    /// Reads the usernames of those of the users that exist, even if disabled, and no other value of their records.
    func usernames(of users: Set<UserIdentifier>) async throws(StoreFault) -> [UserIdentifier: String]
    /// Reads the user with an email address, even if disabled.
    func user(withEmail email: EmailAddress) async throws(StoreFault) -> User?
    /// Reads whether an owner exists, even if disabled.
    func hasOwner() async throws(StoreFault) -> Bool
    /// Adds a user, unless the username or the email address is taken.
    func addUser(_ user: User, recording events: [AuditEvent]) async throws(StoreFault) -> AddUserOutcome
    /// Adds a user as the first owner, unless an owner exists.
    ///
    /// The check and the insertion are one transaction, so that two requests never create two first
    /// owners.
    func addFirstOwner(
        _ user: User, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddUserOutcome
    /// Updates the display name, the email address, the profile and the external identifier of a user, if they and the
    /// role still are those of `former`.
    ///
    /// ``User/changedAt`` becomes `time`, and everything else is kept.
    ///
    /// The links in mails to another address end in the same transaction (``UserLinkStore``).
    func updateUser(
        _ user: User, from former: User, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUserOutcome
    /// Disables a user, unless no other owner could sign in.
    ///
    /// The sessions of the user end in the same transaction (see ``SessionStore``). The method reads no other value of
    /// the record. A value that this version does not know therefore does not keep an account enabled.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - requiredRole: The role that the user must have; nil for any.
    ///   - time: The time, which also becomes ``User/changedAt``.
    ///   - events: The audit events of the change, which the store appends in the same transaction.
    @discardableResult
    func disableUser(
        _ user: UserIdentifier, requiredRole: UserQuery.Role?, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangeStandingOutcome
    /// Enables a user, who can then sign in again.
    ///
    /// ``User/changedAt`` becomes `time`. The outcome is never ``ChangeStandingOutcome/lastOwner``.
    func enableUser(
        _ user: UserIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangeStandingOutcome
    /// Gives a user another role, or none, if the role still is `former`.
    ///
    /// An owner stays one unless another owner can sign in.
    ///
    /// If the user gets a right, the sessions of the user end with every grant that was given in one
    /// (``SessionStore/signOutEverywhere(_:except:at:recording:)``), and the links of the user: the sign-in of a user
    /// with rights can need a second factor, a token would carry the new rights, and a link may have been created by a
    /// user who must not act on such an account.
    /// ``User/changedAt`` becomes `time`. The check and the change are one transaction, so two owners who demote each
    /// other at the same time never both succeed.
    func setRole(
        _ role: UserRole?, of user: UserIdentifier, from former: UserRole?, at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangeStandingOutcome
    /// Finds users, in the order of their usernames; one call examines a limited number of records (``UserPage/next``).
    func users(matching query: UserQuery) async throws(StoreFault) -> UserPage
    /// Counts the users whom a query finds, whatever its ``UserQuery/after`` and ``UserQuery/limit`` are.
    ///
    /// It examines at most as many records as ``users(matching:)``.
    func userCount(matching query: UserQuery) async throws(StoreFault) -> UserCount
    /// Reads a user as lists show one, even if disabled.
    func userOverview(_ id: UserIdentifier) async throws(StoreFault) -> UserOverview?
    /// Counts what the deletion of a user would delete or give to another user; nil if there is no such user.
    func removalCounts(of user: UserIdentifier) async throws(StoreFault) -> RemovalCounts?
    /// Changes, adds or removes a password if the stored hash still equals `former`.
    ///
    /// In the same transaction the store ends all sessions of the user except `session`, and revokes grants, as
    /// ``SessionStore/signOutEverywhere(_:except:at:recording:)`` does. It also invalidates all unredeemed codes of the
    /// user, revokes the grant of a `device_code`, and ends the links of the user. An attacker who knew the former
    /// password thus keeps no access. ``User/mustChangePassword`` becomes false.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - former: The hash of the former password; nil if the user has none.
    ///   - new: The hash of the new password; nil to remove the password.
    ///   - session: The digest of the session to keep; nil to end all sessions.
    ///   - issuers: The issuers whose identities are ways in, which allow the removal of the password.
    ///   - time: The time of the change.
    ///   - events: The events that describe the commit, which the store appends with it.
    func changePassword(
        of user: UserIdentifier,
        from former: PasswordHash?,
        to new: PasswordHash?,
        keeping session: ArtefactDigest?,
        countingIdentitiesOf issuers: Set<String>,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangePasswordOutcome
    /// Replaces the hash of a password that stays the same, if the stored hash still equals `former`; returns false if
    /// it does not.
    ///
    /// The sessions and grants of the user stay. A restore of an earlier copy treats it as a change of the password, so
    /// the user then needs a new one.
    func replacePasswordHash(
        of user: UserIdentifier, from former: PasswordHash, to new: PasswordHash
    ) async throws(StoreFault) -> Bool
    /// Finds the sessions, grants, consents and owned clients of a user that lists leave out, and the account if it
    /// cannot be read.
    func unreadableRecords(of user: UserIdentifier) async throws(StoreFault) -> [UnreadableRecord]
    /// Deletes a user.
    ///
    /// When the method returns, the account is gone for every other method: it can no longer sign in, and its
    /// username and email address are free. Its sessions and consents are deleted, and no code or token of its grants
    /// can be used. The store queues a logout notification for each client that must be notified of the end of a
    /// session, with ``LogoutSubject/removed(sealed:)``.
    ///
    /// The other records, whose number has no limit, are deleted by ``continueRemovals(atMost:)``. If the process ends
    /// before, any later call continues.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - terms: The pseudonym for the audit log, and what happens to the clients of the user.
    ///   - events: Returns the events of the deletion for the clients that were deleted or have another owner. The
    ///     store appends them in the same transaction. Their user is the pseudonym, or the new owner.
    ///   - time: The time of the deletion.
    func beginRemoval(
        of user: UserIdentifier, by terms: RemovalTerms,
        recording events: @escaping @Sendable ([ClientIdentifier]) -> [AuditEvent], at time: Date
    ) async throws(StoreFault) -> BeginRemovalOutcome
    /// Deletes at most `rows` records of deleted users or of deleted clients (``ClientRemoval``) in one transaction.
    ///
    /// Those of users are their grants with codes and token families, and the pushed authorization requests that name
    /// them. In their events of the audit log, the pseudonym replaces the user (``RemovedUser/pseudonymized(_:)``).
    ///
    /// - Returns: The number of records that were deleted, changed or inspected; 0 when nothing is left to do.
    func continueRemovals(atMost rows: Int) async throws(StoreFault) -> Int
}

extension UserStore {
    /// Changes, adds or removes a password, where no identity at another issuer is a way in.
    package func changePassword(
        of user: UserIdentifier, from former: PasswordHash?, to new: PasswordHash?, keeping session: ArtefactDigest?,
        at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangePasswordOutcome {
        try await changePassword(
            of: user, from: former, to: new, keeping: session, countingIdentitiesOf: [], at: time, recording: events)
    }

    /// Disables a user with any role, unless no other owner could sign in.
    @discardableResult
    package func disableUser(
        _ user: UserIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangeStandingOutcome {
        try await disableUser(user, requiredRole: nil, at: time, recording: events)
    }
}

public import Foundation

/// The identifier that a directory has for a user, `externalId` (RFC 7643 §3.1).
///
/// A server has one for each user, whichever client has set it. Two users can have the same one.
public struct ExternalIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length in bytes.
    public static let limit = 255

    /// The text, which distinguishes upper and lower case.
    public let rawValue: String

    /// Parses an identifier; nil if it is empty, too long, or contains a control character.
    public init?(_ rawValue: String) {
        guard (1...Self.limit).contains(rawValue.utf8.count),
            !rawValue.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        self.rawValue = rawValue
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// A part of a list of users that begins at a number.
public struct UserListing: Sendable, Hashable {
    /// The number of users that a list has at most, so that no request reads more.
    public static let limit = 10_000

    /// The users, in the order of their usernames.
    public let users: [User]
    /// The number of users in the whole list.
    public let count: Int
    /// Whether the list has every user; if false, it has those among the first ``limit`` only.
    public let isComplete: Bool

    /// Creates a part of a list that a store has read in one transaction.
    public init(users: [User], count: Int, isComplete: Bool) {
        self.users = users
        self.count = count
        self.isComplete = isComplete
    }
}

/// The outcome of ``ProvisioningStore/provisionUser(_:from:at:recording:)``.
public enum ProvisionUserOutcome: Sendable, Hashable {
    /// The account was changed, and ``User/changedAt`` was set.
    case updated
    /// There is no such user; nothing was written.
    case notFound
    /// A value, the role or the standing has been changed since it was read; nothing was written.
    case changedMeanwhile
    /// Another user has this email address; nothing was written.
    case emailTaken
    /// No other owner could sign in; nothing was written.
    case lastOwner
}

/// The accounts as a directory reads and changes them (RFC 7644).
public protocol ProvisioningStore: Sendable {
    /// Reads the users at a number in the order of the usernames.
    ///
    /// It reads at most ``UserListing/limit`` records. If there are more users, or more disabled ones if these are
    /// asked for, the list has those that are found among the first.
    ///
    /// - Parameters:
    ///   - offset: The number of users in the list before the first one to return.
    ///   - limit: The maximum number of users to return.
    ///   - state: The state of the users; nil for both.
    func users(from offset: Int, limit: Int, state: UserQuery.State?) async throws(StoreFault) -> UserListing
    /// Reads at most `limit` users with an external identifier, in the order of their usernames.
    func users(
        withExternalID id: ExternalIdentifier, limit: Int
    ) async throws(StoreFault) -> [User]
    /// Does what ``UserStore/updateUser(_:from:at:recording:)`` does, and disables or enables the user in the same
    /// transaction if ``User/disabledAt`` says so.
    func provisionUser(
        _ user: User, from former: User, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ProvisionUserOutcome
}

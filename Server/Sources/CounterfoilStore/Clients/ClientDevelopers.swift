public import CounterfoilProtocol
public import Foundation

/// A user who manages a client together with its owner.
public struct ClientDeveloper: Sendable, Hashable {
    /// The maximum number of such users of one client.
    public static let limit = 20
    /// The maximum number of clients that one user manages with their owners.
    public static let clientLimit = 200
    /// The maximum number of names that the developers of one client can have asked at the same time.
    public static let questionLimit = 20
    /// The maximum number of clients that one user can be asked to manage at the same time.
    public static let invitationLimit = 50
    /// The days for which a user can accept an invitation.
    public static let invitationDays = 14

    /// The user.
    public let user: User
    /// The time since which the user manages the client.
    public let since: Date

    /// Creates a record that a store has read.
    public init(user: User, since: Date) {
        self.user = user
        self.since = since
    }
}

/// The question to a user whether to manage a client together with its owner.
public struct ClientInvitation: Sendable, Hashable {
    /// The client.
    public let client: RegisteredClient
    /// The user who owns the client; nil if no user does.
    public let owner: User?

    /// Creates a record that a store has read.
    public init(client: RegisteredClient, owner: User?) {
        self.client = client
        self.owner = owner
    }
}

/// The question of the developers of a client to the user with a name, as they see it.
///
/// A name that no user has leaves the same record, so that a developer does not learn which users exist.
public struct ClientQuestion: Sendable, Hashable {
    /// The name that was asked.
    public let username: Username
    /// The time from which the question cannot be answered.
    public let expires: Date

    /// Creates a record that a store has read.
    public init(username: Username, expires: Date) {
        self.username = username
        self.expires = expires
    }
}

/// A change of the users who manage a client.
public enum ClientDeveloperChange: Sendable, Hashable {
    /// Ask the user with a name, who manages the client only after ``accept(_:)``.
    ///
    /// Without a user, the developers see the question, and no one is asked.
    case invite(Username, UserIdentifier?)
    /// Withdraw the question to the user with a name.
    case withdraw(Username)
    /// Let a user manage the client without a question.
    case add(UserIdentifier)
    /// The user accepts an invitation that has not expired.
    case accept(UserIdentifier)
    /// The user no longer manages the client, or is no longer asked.
    ///
    /// If the user managed it, every open question of the client ends, because the user may have asked it.
    case remove(UserIdentifier)
    /// Give the client to a user who manages it; the former owner manages it from then on.
    ///
    /// `client` has the decisions of administrators that still apply, and the revision that was read. Every open
    /// question of the client ends. The change is refused if the user already owns `ownerLimit` clients.
    case handOver(to: UserIdentifier, client: RegisteredClient, ownerLimit: Int)
}

/// The origin of a change of the users who manage a client, with the condition that the store checks in its commit.
public enum ClientDeveloperAuthority: Sendable, Hashable {
    /// An administrator or a command, who may make every change.
    case administration
    /// A user, who must own the client or, except for a handover, manage it.
    ///
    /// Every user may also accept an invitation, decline it, and leave.
    case user(UserIdentifier)
}

/// The outcome of ``ClientDeveloperStore/changeDevelopers(of:_:by:at:recording:)``.
public enum ClientDeveloperOutcome: Sendable, Hashable {
    /// The change was made.
    case changed
    /// Nothing is left to change, or the user does not exist or is disabled.
    case unchanged
    /// There is no such client that a person registered.
    case notFound
    /// The user who makes the change may not.
    case notAllowed
    /// The client has ``ClientDeveloper/limit`` such users, the user has ``ClientDeveloper/clientLimit`` such clients
    /// or is asked for ``ClientDeveloper/invitationLimit`` others, or the new owner has too many clients.
    case tooMany
    /// The client has ``ClientDeveloper/questionLimit`` open questions.
    case tooManyQuestions
    /// The client was changed after it was read.
    case changedMeanwhile
}

extension ClientDeveloperOutcome: CommitOutcome {
    /// Whether the change was made.
    public var isCommitted: Bool { self == .changed }
}

/// The users who manage clients together with the owners.
public protocol ClientDeveloperStore: Sendable {
    /// Reads the users who manage a client besides its owner, in the order in which they accepted.
    func developers(of client: ClientIdentifier) async throws(StoreFault) -> [ClientDeveloper]
    /// Returns whether a user manages a client besides its owner.
    func isDeveloper(_ user: UserIdentifier, of client: ClientIdentifier) async throws(StoreFault) -> Bool
    /// Reads the identifiers of the clients that a user manages with their owners.
    func clientIdentifiers(managedBy user: UserIdentifier) async throws(StoreFault) -> [ClientIdentifier]
    /// Reads the invitations of a user that have not expired, by the name of the client.
    func clientInvitations(of user: UserIdentifier, at time: Date) async throws(StoreFault) -> [ClientInvitation]
    /// Reads the questions of the developers of a client that have not expired, by name.
    func clientQuestions(of client: ClientIdentifier, at time: Date) async throws(StoreFault) -> [ClientQuestion]
    /// Reads the scopes of the administration that are approved, for requests without a user, for the services that a
    /// user owns or manages.
    func administrationScope(ofClientsOf user: UserIdentifier) async throws(StoreFault) -> Scope
    /// Changes the users who manage a client.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - change: The change.
    ///   - authority: The origin of the change.
    ///   - time: The time of the change.
    ///   - events: The events that describe the commit, which the store appends with it.
    func changeDevelopers(
        of client: ClientIdentifier, _ change: ClientDeveloperChange, by authority: ClientDeveloperAuthority,
        at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> ClientDeveloperOutcome
}

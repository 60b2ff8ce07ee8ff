public import Foundation

/// The approval of a client by the administrators of the server.
public enum ClientApproval: String, Sendable, Hashable, CaseIterable {
    /// An administrator has approved the client, or has registered it.
    case approved
    /// Every user can sign in, but the client gets no reserved scope (``ScopeDefinition/isReserved``).
    case open
    /// Only the developer and the users in ``RegisteredClient/testers`` can sign in, until the approval.
    case development
    /// No user can sign in until the approval.
    case pending
}

/// The suspension of a client by an administrator, which stops every use of the server and deletes nothing.
public struct ClientSuspension: Sendable, Hashable {
    /// The maximum length of ``reason`` in characters.
    public static let reasonLimit = 500

    /// The time of the suspension.
    public let at: Date
    /// The reason, which the developer reads; 1 to 500 characters.
    public let reason: String

    /// Creates a suspension.
    public init(at: Date, reason: String) {
        self.at = at
        self.reason = reason
    }
}

extension RegisteredClient {
    /// The maximum number of users in ``testers``.
    public static let testerLimit = 20

    /// Whether an administrator has approved the client; a first-party client always counts as approved.
    public var isApproved: Bool { approval == .approved || policy.isFirstParty }

    /// Whether only the developer and the users in ``testers`` can sign in.
    public var isInDevelopment: Bool { approval == .development && !isApproved }

    /// Whether no user can sign in before an administrator has approved the client.
    public var isPending: Bool { approval == .pending && !isApproved }

    /// Returns true if the developer wants a user to sign in to the client while it is in development.
    package func isTested(by user: User) -> Bool { owner == user.id || testers.contains(user.username) }
}

/// The numbers of the clients that persons registered.
public struct ClientCounts: Sendable, Hashable {
    /// All clients.
    public let all: Int
    /// The clients to which no user can sign in before an administrator has approved them, except suspended ones.
    public let pending: Int
    /// The clients in development, except suspended ones.
    public let inDevelopment: Int
    /// The services with scopes that wait for the approval of requests without a user, except suspended ones.
    public let machineAccess: Int

    /// Creates numbers that a store has read.
    public init(all: Int, pending: Int, inDevelopment: Int, machineAccess: Int) {
        self.all = all
        self.pending = pending
        self.inDevelopment = inDevelopment
        self.machineAccess = machineAccess
    }
}

/// A decision of an administrator about a client.
public enum ClientDecision: Sendable, Hashable {
    /// Suspend the client.
    case suspend(reason: String)
    /// End the suspension. The client continues with the tokens that it had.
    case resume
    /// Approve the client, if its stored revision still is the one that the administrator has seen.
    case approve(revision: Int)

    /// The action of the event that records the decision.
    package var action: AuditEvent.Action {
        switch self {
        case .suspend: .clientSuspended
        case .resume: .clientResumed
        case .approve: .clientApproved
        }
    }
}

/// The outcome of ``ClientStore/decide(_:on:at:recording:)``.
public enum ClientDecisionOutcome: Sendable, Hashable {
    /// The decision was stored, and the revision of the client increased by one.
    case decided
    /// The client is suspended, not suspended or approved already; nothing was written.
    case alreadyDecided
    /// The client has another revision than the administrator has seen; nothing was written.
    case changedMeanwhile
    /// There is no such client; nothing was written.
    case notFound
}

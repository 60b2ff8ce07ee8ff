public import CounterfoilProtocol
public import Foundation

/// A scope that clients can be assigned, with the owner's description.
public struct ScopeDefinition: Sendable, Hashable {
    /// The scope token on the wire.
    public let token: Scope.Token
    /// The description on the consent page, 1 to 200 characters.
    public var description: String
    /// Whether the metadata list the scope in `scopes_supported` (RFC 8414 §2).
    ///
    /// The scopes in ``standard`` are always listed.
    public var isListed: Bool
    /// Whether the box of an optional scope starts ticked on the consent page.
    ///
    /// A box that is ticked in advance gives no consent under the GDPR (CJEU C-673/17).
    public var startsTicked: Bool

    /// Creates a definition.
    public init(token: Scope.Token, description: String, isListed: Bool = false, startsTicked: Bool = false) {
        self.token = token
        self.description = description
        self.isListed = isListed
        self.startsTicked = startsTicked
    }

    /// The valid lengths of a description.
    public static let descriptionLength = 1...200

    /// The standard scopes, all of which concern a user.
    static let ofPeople = Set(standard.map(\.token))

    /// The standard scopes for which UserInfo returns claims (OpenID Connect Core §5.4).
    static let ofUserInfo = Scope(standard.map(\.token).filter { $0 != .offlineAccess })

    /// The standard scopes, which exist from the start.
    public static let standard: [ScopeDefinition] = [
        ScopeDefinition(token: .openID, description: "Sign you in", isListed: true),
        ScopeDefinition(token: .profile, description: "See your name and user name", isListed: true),
        ScopeDefinition(token: .email, description: "See your email address", isListed: true),
        ScopeDefinition(token: .address, description: "See your postal address", isListed: true),
        ScopeDefinition(token: .phone, description: "See your telephone number", isListed: true),
        ScopeDefinition(token: .offlineAccess, description: "Stay signed in when you are not there", isListed: true),
    ]
}

extension Scope.Token {
    /// Whether the scope is one of OpenID Connect, which is always listed and cannot be deleted.
    public var isStandard: Bool { ScopeDefinition.ofPeople.contains(self) }
}

extension Scope {
    /// Returns the scope without one token.
    package func without(_ token: Token) -> Scope { Scope(tokens.filter { $0 != token }) }
}

extension RegisteredClient {
    /// Returns the client without a scope, with a new revision and time of change, as a store keeps it.
    package func without(_ token: Scope.Token, at time: Date) -> RegisteredClient {
        var client = self
        client.scope = scope.without(token)
        client.optionalScope = optionalScope.without(token)
        client.policy.machineScope = policy.machineScope.without(token)
        client.changedAt = max(changedAt, time)
        client.revision += 1
        return client
    }
}

/// The clients and APIs that name a scope.
public struct ScopeUses: Sendable, Hashable {
    /// The clients, oldest first.
    public var clients: [ClientIdentifier]
    /// The APIs, ordered by indicator.
    public var resources: [Resource]

    /// Creates a list; empty by default.
    public init(clients: [ClientIdentifier] = [], resources: [Resource] = []) {
        self.clients = clients
        self.resources = resources
    }

    /// Whether no client and no API names the scope.
    public var isEmpty: Bool { clients.isEmpty && resources.isEmpty }
}

/// The outcome of ``ScopeStore/addScope(_:)``.
public enum AddScopeOutcome: Sendable, Hashable {
    /// The scope exists.
    case added
    /// The scope exists already; nothing was written.
    case exists
}

/// The outcome of ``ScopeStore/updateScope(_:from:)``.
public enum UpdateScopeOutcome: Sendable, Hashable {
    /// The scope was changed.
    case updated
    /// The scope was changed since it was read; nothing was written.
    case changedMeanwhile
    /// There is no such scope; nothing was written.
    case notFound
}

/// The outcome of ``ScopeStore/removeScope(_:takingFromUses:at:)``.
public enum RemoveScopeOutcome: Sendable, Hashable {
    /// The scope was deleted, also from these clients and APIs.
    case removed(from: ScopeUses)
    /// These clients and APIs name the scope; nothing was written.
    case inUse(ScopeUses)
    /// The scope is one of ``ScopeDefinition/standard``; nothing was written.
    case isStandard
    /// There is no such scope; nothing was written.
    case notFound
}

/// The scopes that can be assigned.
public protocol ScopeStore: Sendable {
    /// Reads all scopes in the order of their tokens, including ``ScopeDefinition/standard``.
    func scopes() async throws(StoreFault) -> [ScopeDefinition]
    /// Adds a scope, unless its token is taken.
    func addScope(_ scope: ScopeDefinition) async throws(StoreFault) -> AddScopeOutcome
    /// Changes a scope if its stored definition still equals `former`.
    func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition
    ) async throws(StoreFault) -> UpdateScopeOutcome
    /// Deletes a scope and removes it from every grant and consent, in one transaction.
    ///
    /// A scope of the same name that is added later is thus allowed by no user. A grant with no scope left is
    /// revoked with ``RevocationReason/scopeRemoved``. If a grant loses scope, its unredeemed code becomes
    /// invalid. A client that loses the scope gets a new revision.
    ///
    /// - Parameters:
    ///   - token: The scope to delete.
    ///   - takesFromUses: Whether to remove the scope from clients and APIs. Otherwise nothing is written if
    ///     any of them names it.
    ///   - time: The time at which grants are revoked and clients changed.
    func removeScope(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date
    ) async throws(StoreFault) -> RemoveScopeOutcome
}

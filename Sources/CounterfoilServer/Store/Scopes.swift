public import CounterfoilProtocol
public import Foundation

/// A permission that clients can be assigned, in the owner's own words.
public struct ScopeDefinition: Sendable, Hashable {
    /// The name on the wire.
    public let token: Scope.Token
    /// What it allows, as the consent page says it; 1 to 200 characters.
    public var description: String
    /// Lists the scope in `scopes_supported` of the metadata (RFC 8414 §2).
    ///
    /// Those of ``standard`` are listed in any case.
    public var isListed: Bool
    /// The initial state of the box on the consent page where the permission is optional.
    ///
    /// A box that is ticked beforehand is no consent under the GDPR (CJEU C-673/17).
    public var startsTicked: Bool

    /// Makes a definition.
    public init(token: Scope.Token, description: String, isListed: Bool = false, startsTicked: Bool = false) {
        self.token = token
        self.description = description
        self.isListed = isListed
        self.startsTicked = startsTicked
    }

    /// The lengths that a description may have.
    public static let descriptionLength = 1...200

    /// Those of the standards, which all speak of a person.
    static let ofPeople = Set(standard.map(\.token))

    /// Those that UserInfo knows (OpenID Connect Core §5.4).
    static let ofUserInfo = Scope(standard.map(\.token).filter { $0 != .offlineAccess })

    /// The scopes of the standards, which exist from the start.
    public static let standard: [ScopeDefinition] = [
        ScopeDefinition(token: .openID, description: "Sign you in", isListed: true),
        ScopeDefinition(token: .profile, description: "See your name and user name", isListed: true),
        ScopeDefinition(token: .email, description: "See your e-mail address", isListed: true),
        ScopeDefinition(token: .address, description: "See your postal address", isListed: true),
        ScopeDefinition(token: .phone, description: "See your telephone number", isListed: true),
        ScopeDefinition(token: .offlineAccess, description: "Stay signed in when you are not there", isListed: true),
    ]
}

extension Scope.Token {
    /// A scope of OpenID Connect, which is always listed and cannot be deleted.
    public var isStandard: Bool { ScopeDefinition.ofPeople.contains(self) }
}

extension Scope {
    /// The scope without one of its tokens.
    package func without(_ token: Token) -> Scope { Scope(tokens.filter { $0 != token }) }
}

extension RegisteredClient {
    /// The client without one of its scopes, as a store keeps it: changed now, and of the next revision.
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

/// The clients and APIs that are registered for a scope.
public struct ScopeUses: Sendable, Hashable {
    /// The clients, oldest first.
    public var clients: [ClientIdentifier]
    /// The APIs, by indicator.
    public var resources: [Resource]

    /// Makes a list; empty unless given.
    public init(clients: [ClientIdentifier] = [], resources: [Resource] = []) {
        self.clients = clients
        self.resources = resources
    }

    /// Tells that no client and no API is registered for it.
    public var isEmpty: Bool { clients.isEmpty && resources.isEmpty }
}

/// What happened when a scope was to be added.
public enum AddScopeOutcome: Sendable, Hashable {
    /// It exists now.
    case added
    /// There is one with this name already.
    case exists
}

/// What happened when a scope was to be changed.
public enum UpdateScopeOutcome: Sendable, Hashable {
    /// It is changed now.
    case updated
    /// It is not what it was when it was read; nothing was written.
    case changedMeanwhile
    /// There is none; nothing was written.
    case notFound
}

/// What happened when a scope was to be removed.
public enum RemoveScopeOutcome: Sendable, Hashable {
    /// It does not exist any more, and was taken from these clients and APIs.
    case removed(from: ScopeUses)
    /// These clients and APIs are registered for it; nothing was written.
    case inUse(ScopeUses)
    /// It is one of ``ScopeDefinition/standard``; nothing was written.
    case isStandard
    /// There is none; nothing was written.
    case notFound
}

/// The permissions that exist.
public protocol ScopeStore: Sendable {
    /// Every scope by name, those of ``ScopeDefinition/standard`` included.
    func scopes() async throws(StoreFault) -> [ScopeDefinition]
    /// Adds a scope, unless its name is taken.
    func addScope(_ scope: ScopeDefinition) async throws(StoreFault) -> AddScopeOutcome
    /// Changes a scope that is still what it was when it was read.
    func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition
    ) async throws(StoreFault) -> UpdateScopeOutcome
    /// Removes a scope together with everything that names it.
    ///
    /// Every grant and every consent loses it, so that a later scope of this name was allowed by nobody. A grant that has
    /// nothing left is revoked, and a code that waits for its redemption is dead when anything was taken from its grant.
    ///
    /// - Parameters:
    ///   - token: The scope.
    ///   - takesFromUses: Takes it from the clients and APIs that are registered for it; otherwise those keep it from being
    ///     removed.
    ///   - time: When grants that have nothing left are revoked.
    func removeScope(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date
    ) async throws(StoreFault) -> RemoveScopeOutcome
}

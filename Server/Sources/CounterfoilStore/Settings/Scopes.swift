public import CounterfoilProtocol
public import Foundation

/// A scope that can be assigned to clients and APIs, with its description.
public struct ScopeDefinition: Sendable, Hashable {
    /// The scope token, as in the `scope` parameter (RFC 6749 §3.3).
    public let token: Scope.Token
    /// The description in the standard language, 1 to 200 characters; pages show it in a language without a text.
    public var description: String
    /// The descriptions in other languages than ``Language/standard``, 1 to 200 characters each.
    public var texts: [Language: String]
    /// Whether the server metadata lists the scope in `scopes_supported` (RFC 8414 §2).
    ///
    /// The scopes in ``standard`` are always listed.
    public var isListed: Bool
    /// Whether the checkbox of the scope is initially checked on the consent page, if the user can decline the scope.
    ///
    /// A pre-checked checkbox does not constitute valid consent under the GDPR (CJEU C-673/17).
    public var startsTicked: Bool
    /// Whether only clients that an administrator has approved get the scope (``RegisteredClient/isApproved``).
    public var isReserved: Bool
    /// The claims of the owner that the scope releases; none for a scope in ``standard``.
    public var claims: ReleasedClaims

    /// Creates a definition; by default, the scope is not listed, its checkbox is initially unchecked, it is not
    /// reserved, and it releases no claims.
    ///
    /// A scope of the administration API is always reserved.
    public init(
        token: Scope.Token, description: String, texts: [Language: String] = [:], isListed: Bool = false,
        startsTicked: Bool = false, isReserved: Bool = false, claims: ReleasedClaims = ReleasedClaims()
    ) {
        self.token = token
        self.description = description
        self.texts = texts
        self.isListed = isListed
        self.startsTicked = startsTicked
        self.isReserved = isReserved || token.isOfAdministration
        self.claims = claims
    }

    /// The valid lengths of a description, in characters.
    public static let descriptionLength = 1...200

    /// The tokens of the standard scopes, all of which concern a user.
    package static let ofUsers = Set(standard.map(\.token))

    /// The standard scopes for which UserInfo returns claims (OpenID Connect Core §5.4).
    package static let ofUserInfo = Scope(standard.map(\.token).filter { $0 != .offlineAccess })

    /// The standard scopes, which every new store contains.
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
    /// Whether the scope is one of ``ScopeDefinition/standard``, which are always listed and cannot be deleted.
    public var isStandard: Bool { ScopeDefinition.ofUsers.contains(self) }

    /// The beginning of the scopes of the administration API, before the name of the right.
    package static let administrationPrefix = "counterfoil.admin."

    /// Whether the scope is one of the administration API, which only approved clients get.
    package var isOfAdministration: Bool { rawValue.hasPrefix(Self.administrationPrefix) }
}

extension Scope {
    package func without(_ token: Token) -> Scope { Scope(tokens.filter { $0 != token }) }

    /// Returns the scopes that the other scope does not contain.
    package func subtracting(_ other: Scope) -> Scope { Scope(tokens.filter { !other.contains($0) }) }
}

extension RegisteredClient {
    /// Returns the client without a scope, with the next revision and a new time of change, ready to be stored.
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

/// The clients and APIs to which a scope is assigned.
public struct ScopeUses: Sendable, Hashable {
    /// The clients, oldest first.
    public var clients: [ClientIdentifier]
    /// The APIs, ordered by resource indicator.
    public var resources: [Resource]

    /// Creates the uses of a scope; by default it has none.
    public init(clients: [ClientIdentifier] = [], resources: [Resource] = []) {
        self.clients = clients
        self.resources = resources
    }

    /// Whether the scope is assigned to no client and no API.
    public var isEmpty: Bool { clients.isEmpty && resources.isEmpty }
}

/// The numbers of clients and grants by their scopes, as far as a bounded read has counted them.
public struct ScopeUsage: Sendable, Hashable {
    /// Clients with the same scopes.
    public struct Clients: Sendable, Hashable {
        /// The scopes that the clients can request.
        public let scope: Scope
        /// The scopes among them that users can decline.
        public let optionalScope: Scope
        /// The number of the clients.
        public let count: Int

        /// Creates a number of clients.
        public init(scope: Scope, optionalScope: Scope, count: Int) {
            self.scope = scope
            self.optionalScope = optionalScope
            self.count = count
        }
    }

    /// Active grants with the same scopes.
    public struct Grants: Sendable, Hashable {
        /// The scopes of the grants.
        public let scope: Scope
        /// The number of the grants.
        public let count: Int

        /// Creates a number of grants.
        public init(scope: Scope, count: Int) {
            self.scope = scope
            self.count = count
        }
    }

    /// The counted clients.
    public let clients: [Clients]
    /// The counted grants.
    public let grants: [Grants]
    /// Whether all clients were counted.
    public let hasAllClients: Bool
    /// Whether all grants were counted; if false, the older ones are missing.
    public let hasAllGrants: Bool

    /// Creates the counts of one read.
    public init(clients: [Clients], grants: [Grants], hasAllClients: Bool, hasAllGrants: Bool) {
        self.clients = clients
        self.grants = grants
        self.hasAllClients = hasAllClients
        self.hasAllGrants = hasAllGrants
    }

    /// Returns the number of counted clients that can request at least one token of a scope.
    package func clients(withAnyOf scope: Scope) -> Int {
        clients.filter { $0.scope.tokens.contains(where: scope.contains) }.reduce(0) { $0 + $1.count }
    }

    /// Returns the number of counted clients whose users can decline a scope.
    package func clients(withOptional token: Scope.Token) -> Int {
        clients.filter { $0.optionalScope.contains(token) }.reduce(0) { $0 + $1.count }
    }

    /// Returns the number of counted grants with a scope.
    package func grants(with token: Scope.Token) -> Int {
        grants.filter { $0.scope.contains(token) }.reduce(0) { $0 + $1.count }
    }
}

/// The outcome of ``ScopeStore/addScope(_:recording:)``.
public enum AddScopeOutcome: Sendable, Hashable {
    /// The scope was added, and clients and APIs can be registered with it.
    case added
    /// A scope with this token exists already; nothing was written.
    case exists
}

/// The outcome of ``ScopeStore/updateScope(_:from:recording:)``.
public enum UpdateScopeOutcome: Sendable, Hashable {
    /// The description or an option of the scope was changed.
    case updated
    /// Another update changed the scope after it was read; nothing was written.
    case changedMeanwhile
    /// There is no such scope; nothing was written.
    case notFound
}

/// The outcome of ``ScopeStore/removeScope(_:takingFromUses:at:recording:)``.
public enum RemoveScopeOutcome: Sendable, Hashable {
    /// The scope was deleted, and removed from the given clients and APIs.
    case removed(from: ScopeUses)
    /// The scope is assigned to the given clients and APIs; nothing was written.
    ///
    /// If it was assigned during the call, grants may have lost it.
    case inUse(ScopeUses)
    /// The scope is one of ``ScopeDefinition/standard``; nothing was written.
    case isStandard
    /// There is no such scope; nothing was written.
    case notFound
}

/// The changes of the scopes that can be assigned to clients and APIs; ``RegistryReader`` reads the scopes.
public protocol ScopeStore: Sendable {
    /// Counts the scopes of clients and of the latest grants.
    ///
    /// - Parameter rows: The maximum number of clients, and of grants, that the store reads.
    func scopeUsage(atMost rows: Int) async throws(StoreFault) -> ScopeUsage
    /// Reads the clients and APIs to which a scope is assigned.
    ///
    /// - Parameters:
    ///   - token: The scope.
    ///   - limit: The maximum number of clients, and of APIs, in the result.
    func scopeUses(of token: Scope.Token, atMost limit: Int) async throws(StoreFault) -> ScopeUses
    /// Finds clients that can request one of some scopes, in one pass.
    ///
    /// - Parameters:
    ///   - scope: The scopes.
    ///   - limit: The maximum number of clients to return.
    ///   - rows: The maximum number of clients to examine.
    /// - Returns: The clients, and whether every client was examined.
    func clients(
        withAnyOf scope: Scope, atMost limit: Int, among rows: Int
    ) async throws(StoreFault) -> (clients: [ClientIdentifier], isWhole: Bool)
    /// Adds a scope, unless one with the same token exists.
    func addScope(_ scope: ScopeDefinition, recording events: [AuditEvent]) async throws(StoreFault) -> AddScopeOutcome
    /// Changes a scope if its stored definition still equals `former`.
    func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateScopeOutcome
    /// Deletes a scope and removes it from every grant and consent.
    ///
    /// A store may remove it from the grants in several transactions, of which the last one deletes it. So after a
    /// fault, the scope exists, some grants may have lost it, and the call can be repeated.
    ///
    /// If a scope with the same token is added later, it starts without any consent. A grant with no scope left is
    /// revoked with ``RevocationReason/scopeRemoved``. If the scope of a grant is reduced, its unredeemed code becomes
    /// invalid. A client that loses the scope gets a new revision.
    ///
    /// - Parameters:
    ///   - token: The scope to delete.
    ///   - takesFromUses: Whether to remove the scope from the clients and APIs to which it is assigned. If false and
    ///     the scope is assigned to any, the store writes nothing.
    ///   - time: The time at which grants are revoked and clients changed.
    ///   - events: Returns the events of the commit, which the store appends with it.
    func removeScope(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool, at time: Date,
        recording events: @escaping @Sendable (ScopeUses) -> [AuditEvent]
    ) async throws(StoreFault) -> RemoveScopeOutcome
}

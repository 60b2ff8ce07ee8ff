public import CounterfoilProtocol
public import Foundation

/// The owner's rules for clients that no person registered.
///
/// By default, the server accepts no such client.
public struct UnregisteredClientPolicy: Sendable, Hashable {
    /// The users who may allow something to an unregistered client.
    public enum Approvers: String, Sendable, Hashable, CaseIterable {
        /// Every user, which is the default.
        case everyone
        /// Administrators only.
        case administrators
    }

    /// The maximum number of hosts in ``allowedHosts`` and in ``refusedHosts``.
    public static let hostLimit = 200

    /// The kinds of unregistered clients that the server accepts.
    public var kinds: Set<UnregisteredClientKind>
    /// The hosts whose clients the server accepts; empty for every host.
    ///
    /// The host of a client is that of its document or, if it registered itself, those of its https redirect URIs. The
    /// host of its `backchannel_logout_uri` must be accepted, too.
    public var allowedHosts: [HostPattern]
    /// The hosts whose clients the server refuses, even if ``allowedHosts`` contains them.
    public var refusedHosts: [HostPattern]
    /// The scopes that a client gets if it names an API and none of its scopes, or no scope at all.
    public var defaultScope: Scope
    /// The scopes that a client can request; nil for every scope that the metadata list.
    public var maximumScope: Scope?
    /// The APIs that a client can name; nil for every API.
    public var resources: [Resource]?
    /// The condition under which a client gets a refresh token.
    public var refreshTokens: RefreshTokenPolicy
    /// The lifetime of access tokens in seconds, 60 to 86400; nil for that of the server settings.
    public var accessTokenLifetime: Int?
    /// The time without use after which a refresh token expires, in seconds; nil for that of the server settings.
    public var refreshIdleLifetime: Int?
    /// The lifetime of a refresh token family in seconds; nil for that of the server settings.
    public var refreshLifetime: Int?
    /// The users who may allow something to an unregistered client.
    public var approvers: Approvers
    /// Whether a registration needs an initial access token (RFC 7591 §3).
    public var requiresInitialAccessToken: Bool
    /// The number of changes so far.
    ///
    /// A store rejects an update that is based on another revision.
    public var revision: Int

    /// Creates a policy; the default values accept no client.
    public init(
        kinds: Set<UnregisteredClientKind> = [],
        allowedHosts: [HostPattern] = [],
        refusedHosts: [HostPattern] = [],
        defaultScope: Scope = Scope(),
        maximumScope: Scope? = nil,
        resources: [Resource]? = nil,
        refreshTokens: RefreshTokenPolicy = .offlineAccess,
        accessTokenLifetime: Int? = nil,
        refreshIdleLifetime: Int? = nil,
        refreshLifetime: Int? = nil,
        approvers: Approvers = .everyone,
        requiresInitialAccessToken: Bool = false,
        revision: Int = 0
    ) {
        self.kinds = kinds
        self.allowedHosts = allowedHosts
        self.refusedHosts = refusedHosts
        self.defaultScope = defaultScope
        self.maximumScope = maximumScope
        self.resources = resources
        self.refreshTokens = refreshTokens
        self.accessTokenLifetime = accessTokenLifetime
        self.refreshIdleLifetime = refreshIdleLifetime
        self.refreshLifetime = refreshLifetime
        self.approvers = approvers
        self.requiresInitialAccessToken = requiresInitialAccessToken
        self.revision = revision
    }

    /// Returns whether the server accepts clients of a host.
    public func accepts(host: String) -> Bool {
        !refusedHosts.contains { $0.matches(host) }
            && (allowedHosts.isEmpty || names(host: host))
    }

    /// Returns whether ``allowedHosts`` contains a host.
    package func names(host: String) -> Bool { allowedHosts.contains { $0.matches(host) } }
}

/// A host name, or the name of a domain whose subdomains are meant: `example.com` or `*.example.com`.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    /// The pattern in lower case.
    public let rawValue: String

    /// Parses a pattern; nil unless it is a domain name, or `*.` and a domain name.
    public init?(_ text: String) {
        let canonical = DomainName.canonical(text)
        let name = canonical.hasPrefix("*.") ? String(canonical.dropFirst(2)) : canonical
        guard DomainName.isValid(name), !DomainName.isNumeric(name) else { return nil }
        rawValue = canonical
    }

    /// Returns whether a host has this name, or is a subdomain of `*.` and a name at any depth.
    public func matches(_ host: String) -> Bool {
        let host = DomainName.canonical(host)
        return rawValue.hasPrefix("*.") ? host.hasSuffix(rawValue.dropFirst(1)) : host == rawValue
    }

    /// The pattern.
    public var description: String { rawValue }
}

/// The outcome of ``UnregisteredClientStore/updateUnregisteredClientPolicy(_:recording:)``.
public enum UpdateUnregisteredClientPolicyOutcome: Sendable, Hashable {
    /// The policy was changed, and its revision increased by one.
    case updated
    /// Another update changed the policy after it was read; nothing was written.
    case changedMeanwhile
}

/// The outcome of ``UnregisteredClientStore/refuseHost(_:recording:)``.
public enum RefuseHostOutcome: Sendable, Hashable {
    /// The policy refuses the host from now on, and its revision increased by one.
    case refused
    /// The policy refused the host already; nothing was written.
    case alreadyRefused
    /// The policy refuses ``UnregisteredClientPolicy/hostLimit`` hosts already; nothing was written.
    case tooMany
}

/// A token that permits clients to register themselves, the initial access token of RFC 7591 §3.
public struct InitialAccessToken: Sendable, Hashable {
    /// The digest of the token.
    public let digest: ArtefactDigest
    /// The text by which administrators recognize the token, 1 to 100 characters.
    public let name: String
    /// The time of creation.
    public let createdAt: Date
    /// The time from which the token cannot be used.
    public let expiresAt: Date

    /// Creates a record.
    public init(digest: ArtefactDigest, name: String, createdAt: Date, expiresAt: Date) {
        self.digest = digest
        self.name = name
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// The clients that no person registered, changes of the policy for them, and the tokens for registrations.
///
/// ``RegistryReader`` reads the policy.
public protocol UnregisteredClientStore: Sendable {
    /// Changes the policy if its stored revision still equals that of `policy`, and increases the revision by one.
    func updateUnregisteredClientPolicy(
        _ policy: UnregisteredClientPolicy, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUnregisteredClientPolicyOutcome
    /// Adds a host to ``UnregisteredClientPolicy/refusedHosts``, and increases the revision by one.
    ///
    /// It reads and changes nothing else, so that a host can be refused even if the policy has a value that this
    /// version does not know.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - events: The audit events of the change, which the store appends in the same transaction.
    func refuseHost(
        _ host: HostPattern, recording events: [AuditEvent]
    ) async throws(StoreFault) -> RefuseHostOutcome
    /// Registers a client that registers itself, with its first secret if it has one.
    ///
    /// The check of the limit and the insertion are one transaction.
    ///
    /// - Parameters:
    ///   - client: The client, with ``ClientSource/registration(_:)``.
    ///   - secret: The first secret; nil for a client without one.
    ///   - unusedLimit: The maximum number of clients with that source to which no user has allowed anything; a further
    ///     one gets ``AddClientOutcome/tooMany``.
    ///   - events: The events that describe the commit, which the store appends with it.
    func addSelfRegisteredClient(
        _ client: RegisteredClient, secret: ClientSecretRecord?, unusedLimit: Int,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientOutcome
    /// Counts the users who have allowed something to a client, at most `limit`.
    func userCount(of id: ClientIdentifier, atMost limit: Int) async throws(StoreFault) -> Int
    /// Stores a token for registrations.
    func addInitialAccessToken(_ token: InitialAccessToken, recording events: [AuditEvent]) async throws(StoreFault)
    /// Reads the tokens for registrations, oldest first, even if they have expired.
    func initialAccessTokens() async throws(StoreFault) -> [InitialAccessToken]
    /// Reads a token for registrations; nil if there is none with this digest, or if it has expired.
    func initialAccessToken(
        _ digest: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> InitialAccessToken?
    /// Deletes a token for registrations; returns false if there is none with this digest.
    @discardableResult
    func removeInitialAccessToken(
        _ digest: ArtefactDigest, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool
}

@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The party that calls the administration API, for one request.
///
/// ``AdministrationAccess`` creates one from a token, and ``LocalAdministration`` one for a command.
struct AdministrationCaller: Sendable {
    /// The kind of a caller.
    enum Party: Sendable {
        /// A client with a token, for a user or without one.
        case client(RegisteredClient, user: User?, AccessTokenClaims)
        /// A command on the machine of the server.
        case command(CommandContext)
    }

    let party: Party
    /// The rights of the token: those of its scope, as far as it still holds, which the role of the user has.
    ///
    /// A command has those of an owner.
    let rights: HeldRights

    fileprivate init(_ token: AccessTokenClaims, client: RegisteredClient, user: User?, scope: Scope) {
        party = .client(client, user: user, token)
        let granted = Set(
            AdministrationRight.allCases.filter { $0.scope.map { scope.contains($0) } == true })
        rights = user.map { HeldRights(of: $0.role, within: granted) } ?? HeldRights(ofService: granted)
    }

    /// Creates the caller for a command, which needs no role.
    init(_ command: CommandContext) {
        party = .command(command)
        rights = HeldRights(of: .owner)
    }

    /// The user for whom the client acts; nil for a client without one, and for a command.
    var user: User? { if case .client(_, let user, _) = party { user } else { nil } }

    /// The client of the token; nil for a command.
    var clientID: ClientIdentifier? { if case .client(let client, _, _) = party { client.id } else { nil } }
}

/// The decision whether a request may use a right at the administration API.
///
/// A token of this server with the API as its audience carries the scope of the right. Beyond that, everything is
/// judged as it is now: the grant and its user, the client with its approval, the terms that the user has accepted, and
/// the role of the user.
struct AdministrationAccess: Sendable {
    private let settings: ServerSettings
    private let registry: CachedRegistry
    private let store: any UncachedStore
    private let tokens: AccessTokenCheck
    private let throttle: AdministrationThrottle

    init(_ components: ServerComponents) {
        settings = components.settings
        registry = components.registry
        store = components.store
        tokens = components.accessTokenCheck
        throttle = components.throttles.administration
    }

    /// Authenticates a request; records its client for CORS.
    func caller(
        of request: IncomingRequest, at endpoint: Endpoint, for right: AdministrationRight, now: Date,
        client: inout RequestingClient
    ) async throws -> AdministrationCaller {
        guard let scope = right.scope else { throw NotFoundError() }
        let metadata = settings.issuer.administrationAPIMetadata
        var isBoundToKey = false
        do {
            let presented = try PresentedAccessToken(request)
            isBoundToKey = presented.isBoundToKey
            guard let token = presented.token else {
                throw ProblemError(
                    .unauthorized, "no-token", "The request needs an access token in the Authorization header.",
                    fields: [
                        .wwwAuthenticate: BearerRefusal.challengesWithoutToken(metadata, scope: Scope([scope]))
                    ])
            }
            let access = try await tokens.verified(
                token, for: [settings.issuer.administrationAPI], by: request, now: now, client: &client)
            let proof = try tokens.proof(of: access, in: request, at: endpoint, presented)
            // Every valid signature counts, so that refused requests do not read the store without a limit.
            try throttle.count(access.clientID, at: now)
            let (caller, client) = try await caller(with: access, for: right, scope)
            if let user = caller.user { try throttle.count(user.id, at: now) }
            try await tokens.use(proof, of: caller.user.map { .user($0.id) } ?? .client(client))
            return caller
        } catch var refused as BearerRefusal {
            refused.isOfBoundToken = isBoundToKey || refused.isOfBoundToken
            refused.resourceMetadata = metadata
            throw refused
        }
    }

    /// Judges the token of a request again, after the request has waited; throws if it no longer allows the operation.
    func confirm(_ caller: AdministrationCaller, for right: AdministrationRight) async throws {
        guard case .client(_, _, let token) = caller.party else { return }
        guard let scope = right.scope else { throw NotFoundError() }
        do { _ = try await self.caller(with: token, for: right, scope) } catch var refused as BearerRefusal {
            refused.isOfBoundToken = refused.isOfBoundToken || token.keyThumbprint != nil
            refused.resourceMetadata = settings.issuer.administrationAPIMetadata
            throw refused
        }
    }

    private func caller(
        with access: AccessTokenClaims, for right: AdministrationRight, _ scope: Scope.Token
    ) async throws -> (AdministrationCaller, RegisteredClient) {
        let registry = try await registry.fresh()
        guard let standing = try await TokenStanding(of: access, in: store, self.registry),
            let client = try await registry.client(access.clientID)
        else {
            throw BearerRefusal(
                .invalidToken, "the access token is expired, revoked or invalid", reason: "its grant has ended")
        }
        let api = try await registry.resource(try Resource(settings.issuer.administrationAPI))
        guard access.keyThumbprint != nil || api?.requiresBoundTokens != true else {
            var refusal = BearerRefusal(.invalidToken, "the administration API needs a token that is bound to a key")
            refusal.isOfBoundToken = true
            throw refusal
        }
        // A client that has lost its approval loses the reserved scopes.
        let held = try await registry.permitted(access.scope.intersection(standing.scope), to: client, settings)
        guard held.contains(scope) else {
            throw BearerRefusal(
                .insufficientScope, "the operation needs a token with the scope \(scope)", scope: Scope([scope]))
        }
        var user: User?
        if case .user(let facts) = standing.subject {
            user = facts.user
            // The rights of a role need a sign-in here, whatever another issuer signs.
            if facts.grant.methods.external != nil { user?.role = nil }
        }
        guard user.flatMap({ settings.unacceptedTerms(of: $0) }) == nil else {
            throw ProblemError(
                .forbidden, "terms-not-accepted",
                "The user of the token has not accepted the terms of the service; sign in at the server to accept them."
            )
        }
        let caller = AdministrationCaller(access, client: client, user: user, scope: held)
        guard caller.rights.rights.contains(right) else {
            throw ProblemError(
                .forbidden, "missing-right", "The user of the token does not have the right \(right.rawValue).")
        }
        return (caller, client)
    }
}

/// The limits of requests to the administration API, for each client and each user; bounded in memory.
final class AdministrationThrottle: Sendable {
    /// The maximum number of requests of a client within the window.
    static let perClient = 1200
    /// The maximum number of requests for a user within the window, whatever the client.
    static let perUser = 600
    /// The length of the window, in seconds.
    static let window: TimeInterval = 60

    private enum Key: Hashable {
        case client(ClientIdentifier)
        case user(UserIdentifier)
    }

    private let requests = Mutex(RateLimiter<Key>(window: window))

    /// Counts a request of a client.
    func count(_ client: ClientIdentifier, at now: Date) throws(ProblemError) {
        try admit(.init(.client(client), Self.perClient), at: now)
    }

    /// Counts a request for a user.
    func count(_ user: UserIdentifier, at now: Date) throws(ProblemError) {
        try admit(.init(.user(user), Self.perUser), at: now)
    }

    private func admit(_ limit: RateLimiter<Key>.Limit, at now: Date) throws(ProblemError) {
        guard let wait = requests.withLock({ $0.admit([limit], at: now) }) else { return }
        throw ProblemError(
            .tooManyRequests, "too-many-requests", "There were too many requests; try again in \(wait) seconds.",
            fields: [.retryAfter: String(wait)])
    }
}

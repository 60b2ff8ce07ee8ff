import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// The APIs that a request or grant names, or that follow from its scope, as they are registered now (RFC 8707 §2).
///
/// The server itself counts as an API: its issuer identifier is the resource indicator, its UserInfo endpoint
/// is the API, and its scopes are those for claims: of OpenID Connect, and of the owner (``ScopeClaims``).
struct NamedResources: Sendable {
    /// A registered API, or the server itself.
    struct NamedResource: Sendable {
        /// The resource indicator, spelled as it is registered.
        let resource: Resource
        /// The display name of the API; nil for the server itself, unless it is also registered as an API.
        let name: String?
        let scope: Scope
        let tokenType: AccessTokenType
        /// Whether the API accepts only tokens that are bound to a key.
        let requiresBoundTokens: Bool

        /// Whether this is the server itself, with no API registered at its issuer identifier.
        var isServer: Bool { name == nil }
    }

    /// The requested APIs that exist, in the order of the request.
    let known: [NamedResource]
    /// The requested resource indicators that are not registered.
    let unknown: [Resource]
    /// Whether the request names no API, and the first of ``known`` follows from its scope (RFC 9068 §3).
    let followFromScope: Bool
    /// The scopes of the owner that belong to the server itself (``ScopeClaims/scope``).
    let claimScope: Scope

    init(
        known: [NamedResource], unknown: [Resource], followFromScope: Bool = false, claimScope: Scope = Scope()
    ) {
        self.known = known
        self.unknown = unknown
        self.followFromScope = followFromScope
        self.claimScope = claimScope
    }

    /// Whether the token is for the default audience: no API is named, and none follows from the scope.
    var isEmpty: Bool { known.isEmpty && unknown.isEmpty }

    /// The scopes of all APIs in the list.
    var scope: Scope { Scope(known.flatMap(\.scope.tokens)) }

    /// The type of an access token for all APIs in the list: `JWT` only if every API is registered with it.
    ///
    /// RFC 9068 §4: an API that follows the standard refuses every other type than `at+jwt`. The server itself accepts
    /// both types.
    var tokenType: AccessTokenType {
        let apis = known.filter { !$0.isServer }
        return !apis.isEmpty && apis.allSatisfy { $0.tokenType == .jwt } ? .jwt : .atJWT
    }

    /// Whether at least one API accepts only tokens that are bound to a key.
    var requiresBoundTokens: Bool { known.contains(where: \.requiresBoundTokens) }

    /// The resource indicators, separated by spaces.
    var description: String { known.map(\.resource.rawValue).joined(separator: " ") }

    /// Returns this value; throws `invalid_target` if one of the resource indicators is not registered (RFC 8707 §2).
    func checked() throws(OAuthError) -> NamedResources {
        guard let first = unknown.first else { return self }
        throw OAuthError(.invalidTarget, "there is no such resource here: \(first)")
    }
}

extension RegistryReader {
    /// Looks up the APIs for resource indicators.
    ///
    /// - Parameters:
    ///   - resources: The resource indicators.
    ///   - issuer: The issuer identifier, which is the resource indicator of the server itself.
    ///   - claimScope: The scopes of the owner that belong to the server itself (``ScopeClaims/scope``).
    func named(
        _ resources: [Resource], issuer: Issuer, claimScope: Scope
    ) async throws(StoreFault) -> NamedResources {
        var known: [NamedResources.NamedResource] = []
        var unknown: [Resource] = []
        let server = issuer.resource
        for resource in resources {
            let api = try await self.resource(resource)
            let isServer = resource == server
            guard api != nil || isServer else {
                unknown.append(resource)
                continue
            }
            let own = isServer ? ScopeDefinition.ofUserInfo.union(claimScope) : Scope()
            known.append(
                NamedResources.NamedResource(
                    resource: api?.resource ?? server ?? resource, name: api?.name,
                    scope: (api?.scope ?? Scope()).union(own), tokenType: api?.tokenType ?? .atJWT,
                    requiresBoundTokens: api?.requiresBoundTokens ?? false))
        }
        return NamedResources(known: known, unknown: unknown, claimScope: claimScope)
    }
}

/// The audience of an access token, and its scope at this audience (RFC 8707 §2.2, RFC 9068 §3).
///
/// A token for APIs contains only scopes of these APIs. An API that receives the token therefore cannot use it
/// with the scopes of any other API. A token for no API has the default audience and the whole scope.
struct TokenTarget: Sendable {
    /// The value of the claim `aud`.
    let audience: [String]
    /// The value of the claim `scope`; not empty if an API is named.
    let scope: Scope
    /// The type of the access token (`typ`).
    let type: AccessTokenType
    /// Whether an API in the audience accepts only tokens that are bound to a key.
    private let requiresBoundTokens: Bool

    /// Creates the target of a token for the default audience: its request names no API, and none follows from the
    /// scope.
    ///
    /// - Parameters:
    ///   - scope: The scope of the token.
    ///   - api: The API that is registered with the default audience; nil if there is none.
    init(anywhere scope: Scope, of api: RegisteredResource?, settings: ServerSettings) {
        audience = [settings.defaultAudience]
        self.scope = scope
        // Without `scope`, verifiers could not tell a token of the type `JWT` from an ID token.
        type = scope.isEmpty ? .atJWT : api?.tokenType ?? .atJWT
        requiresBoundTokens = api?.requiresBoundTokens ?? false
    }

    /// Creates the target of a token for the APIs that a token request names.
    init(_ scope: Scope, for named: NamedResources) throws(OAuthError) {
        let named = try named.checked()
        let coveredScope = scope.intersection(named.scope)
        guard !coveredScope.isEmpty else { throw Self.nothing(of: scope, for: named) }
        audience = named.known.map(\.resource.rawValue)
        self.scope = coveredScope
        type = named.tokenType
        requiresBoundTokens = named.requiresBoundTokens
    }

    /// Creates the target of a token whose request names no API: the token is for the APIs of the grant of which it
    /// carries a scope (RFC 9068 §3).
    ///
    /// If `scope` contains no scope of these APIs, for example because the user declined them, but contains `openid`,
    /// the token is for the server itself. It then gives access to UserInfo only.
    init(_ scope: Scope, forGranted named: NamedResources, issuer: Issuer) throws(OAuthError) {
        let covering = NamedResources(
            known: named.known.filter { $0.scope.tokens.contains(where: scope.contains) }, unknown: [])
        if !covering.isEmpty {
            audience = covering.known.map(\.resource.rawValue)
            self.scope = scope.intersection(covering.scope)
            type = covering.tokenType
            requiresBoundTokens = covering.requiresBoundTokens
        } else if scope.contains(.openID) {
            audience = [issuer.rawValue]
            self.scope = scope.intersection(ScopeDefinition.ofUserInfo.union(named.claimScope))
            type = .atJWT
            requiresBoundTokens = false
        } else {
            throw named.known.isEmpty
                ? OAuthError(.invalidTarget, "the resources of the authorization request are not registered any more")
                : Self.nothing(of: scope, for: named)
        }
    }

    /// Throws `invalid_dpop_proof` if an API in the audience requires bound tokens and there is no proof.
    func requireProof(_ proof: VerifiedDPoPProof?) throws(OAuthError) {
        guard requiresBoundTokens, proof == nil else { return }
        throw OAuthError.proofMissing(
            "the resource \(audience.joined(separator: " "))",
            "this is a setting of the API (resource edit --bound-tokens-only)")
    }

    private static func nothing(of scope: Scope, for named: NamedResources) -> OAuthError {
        OAuthError(
            .invalidScope, "none of the requested scopes \(scope) is registered for resource \(named.description)")
    }
}

extension RegistryReader {
    /// Reads the API that is registered with the default audience, whose tokens need not name it; nil if there is
    /// none.
    func defaultAPI(_ settings: ServerSettings) async throws(StoreFault) -> RegisteredResource? {
        guard let audience = try? Resource(settings.defaultAudience) else { return nil }
        return try await resource(audience)
    }
}

extension AccessTokenClaims {
    /// Returns the audience of the token that is equal to a resource indicator; nil if there is none.
    func audience(equalTo name: String) -> String? {
        if let exact = audience.first(where: { $0.utf8.elementsEqual(name.utf8) }) { return exact }
        guard let resource = try? Resource(name) else { return nil }
        return audience.first { (try? Resource($0)) == resource }
    }
}

extension Grant {
    /// Returns true if the client may request tokens for an API (RFC 8707 §2.2).
    ///
    /// The client may do so for the APIs that its authorization request named. If the granted scope contains
    /// `openid`, it may also request tokens for the server itself, because UserInfo accepts such tokens.
    func allows(_ resource: Resource, issuer: Issuer) -> Bool {
        resources.contains(resource) || (scope.contains(.openID) && resource.isServer(issuer))
    }
}

extension Resource {
    /// Returns true if this is the resource indicator of the server itself, which is its issuer identifier.
    fileprivate func isServer(_ issuer: Issuer) -> Bool { self == issuer.resource }
}

extension Issuer {
    /// The resource indicator of the server itself.
    var resource: Resource? { try? Resource(rawValue) }
}

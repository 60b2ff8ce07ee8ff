import CounterfoilProtocol

/// The APIs that a request or grant names, as they are registered now (RFC 8707 §2).
///
/// The server itself counts as an API: its issuer identifier is the resource indicator, its UserInfo endpoint
/// is the API, and its scopes are those for OpenID Connect claims.
struct NamedResources: Sendable {
    /// A registered API, or the server itself.
    struct Known: Sendable {
        let resource: Resource
        /// The display name of the API; nil for the server itself, unless it is also registered as an API.
        let name: String?
        let scope: Scope
    }

    /// The requested APIs that exist, in the order of the request.
    let known: [Known]
    /// The requested resource indicators that are not registered.
    let unknown: [Resource]

    /// Whether the request names no API.
    var isEmpty: Bool { known.isEmpty && unknown.isEmpty }

    /// The scopes of all APIs in the list.
    var scope: Scope { Scope(known.flatMap(\.scope.tokens)) }

    /// The resource indicators, separated by spaces.
    var description: String { known.map(\.resource.rawValue).joined(separator: " ") }

    /// Returns this value; throws `invalid_target` if one of the resource indicators is not registered (RFC 8707 §2).
    func checked() throws(OAuthError) -> NamedResources {
        guard let first = unknown.first else { return self }
        throw OAuthError(.invalidTarget, "there is no such resource here: \(first)")
    }
}

extension ResourceStore {
    /// Looks up the APIs for resource indicators; `read` contains APIs that need no lookup.
    func named(
        _ resources: [Resource], issuer: Issuer, knowing read: [RegisteredResource] = []
    ) async throws(StoreFault) -> NamedResources {
        var known: [NamedResources.Known] = []
        var unknown: [Resource] = []
        for resource in resources {
            let former = read.first { $0.resource == resource }
            let api = if let former { former } else { try await self.resource(resource) }
            let isServer = resource.isServer(issuer)
            guard api != nil || isServer else {
                unknown.append(resource)
                continue
            }
            let own = isServer ? ScopeDefinition.ofUserInfo : Scope()
            known.append(
                NamedResources.Known(
                    resource: resource, name: api?.name, scope: (api?.scope ?? Scope()).union(own)))
        }
        return NamedResources(known: known, unknown: unknown)
    }
}

/// The audience of an access token, and its scope at this audience (RFC 8707 §2.2, RFC 9068 §3).
///
/// A token for APIs contains only scopes of these APIs. An API that receives the token therefore cannot use it
/// with the scopes of any other API. A token that names no API has the default audience and the whole scope.
struct TokenTarget: Sendable {
    /// The value of the claim `aud`.
    let audience: [String]
    /// The value of the claim `scope`; not empty if an API is named.
    let scope: Scope

    /// Creates the target of a token that names no API.
    init(anywhere scope: Scope, settings: ServerSettings) {
        audience = [settings.defaultAudience]
        self.scope = scope
    }

    /// Creates the target of a token for the APIs that a token request names.
    init(_ scope: Scope, for named: NamedResources) throws(OAuthError) {
        let named = try named.checked()
        let carried = scope.intersection(named.scope)
        guard !carried.isEmpty else { throw Self.nothing(of: scope, for: named) }
        audience = named.known.map(\.resource.rawValue)
        self.scope = carried
    }

    /// Creates the target of a token whose request names no API: the token is for the APIs of the grant.
    ///
    /// If `scope` contains no scope of these APIs, for example because the user declined them, but contains `openid`,
    /// the token is for the server itself. It then gives access to UserInfo only.
    init(_ scope: Scope, forGranted named: NamedResources, issuer: Issuer) throws(OAuthError) {
        let carried = scope.intersection(named.scope)
        if !carried.isEmpty {
            audience = named.known.map(\.resource.rawValue)
            self.scope = carried
        } else if scope.contains(.openID) {
            audience = [issuer.rawValue]
            self.scope = scope.intersection(ScopeDefinition.ofUserInfo)
        } else {
            throw named.known.isEmpty
                ? OAuthError(.invalidTarget, "the resources of the authorization request are not registered any more")
                : Self.nothing(of: scope, for: named)
        }
    }

    private static func nothing(of scope: Scope, for named: NamedResources) -> OAuthError {
        OAuthError(
            .invalidScope, "none of the requested scopes \(scope) is registered for resource \(named.description)")
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
    fileprivate func isServer(_ issuer: Issuer) -> Bool { rawValue.utf8.elementsEqual(issuer.rawValue.utf8) }
}

import CounterfoilProtocol

/// The APIs that somebody names, as they are registered now (RFC 8707 §2).
///
/// The server itself is one of them: its issuer is the indicator, UserInfo the API, and what OpenID Connect says of a person are
/// its scopes.
struct NamedResources: Sendable {
    /// One of them.
    struct Known: Sendable {
        let resource: Resource
        /// The name that people read; nil for the server itself.
        let name: String?
        let scope: Scope
    }

    /// Those that are known here, in the order in which they were named.
    let known: [Known]
    /// Those that are not.
    let unknown: [Resource]

    /// Whether none is named.
    var isEmpty: Bool { known.isEmpty && unknown.isEmpty }

    /// Everything that means something to one of them.
    var scope: Scope { Scope(known.flatMap(\.scope.tokens)) }

    /// Their indicators as a text.
    var description: String { known.map(\.resource.rawValue).joined(separator: " ") }

    /// Refuses what is not known here (RFC 8707 §2).
    func checked() throws(OAuthError) -> NamedResources {
        guard let first = unknown.first else { return self }
        throw OAuthError(.invalidTarget, "there is no such resource here: \(first)")
    }
}

extension ResourceStore {
    /// Looks up the APIs of indicators, but for those that were read before.
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

/// What an access token is for, and what of a scope it carries there (RFC 8707 §2.2, RFC 9068 §3).
///
/// A token for an API carries the scopes of that API and no others, so that whoever receives it can do nothing with it elsewhere;
/// one for several carries those of any of them. A token for none in particular is for the audience that is set, with all of the
/// scope.
struct TokenTarget: Sendable {
    /// `aud`.
    let audience: [String]
    /// `scope`, never empty where an API is named.
    let scope: Scope

    /// A token for no API in particular.
    init(anywhere scope: Scope, settings: ServerSettings) {
        audience = [settings.defaultAudience]
        self.scope = scope
    }

    /// A token for APIs that a token request names.
    init(_ scope: Scope, for named: NamedResources) throws(OAuthError) {
        let named = try named.checked()
        let carried = scope.intersection(named.scope)
        guard !carried.isEmpty else { throw Self.nothing(of: scope, for: named) }
        audience = named.known.map(\.resource.rawValue)
        self.scope = carried
    }

    /// A token for the APIs of a grant, where a token request names none.
    ///
    /// Where nothing is left for them, because the person left it out or took it back, it is for the server itself and says who
    /// somebody is.
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
    /// Whether tokens for an API can be had (RFC 8707 §2.2): for those of the authorization request and, after a sign-in, for the
    /// server itself, so that UserInfo can be asked.
    func allows(_ resource: Resource, issuer: Issuer) -> Bool {
        resources.contains(resource) || (scope.contains(.openID) && resource.isServer(issuer))
    }
}

extension Resource {
    /// Whether it is the indicator of the server itself.
    fileprivate func isServer(_ issuer: Issuer) -> Bool { rawValue.utf8.elementsEqual(issuer.rawValue.utf8) }
}

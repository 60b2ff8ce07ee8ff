import CounterfoilProtocol
import CounterfoilStore

/// The registered APIs and their scopes, from which the audience of a token follows if its request names no API (RFC
/// 9068 §3).
///
/// The standard scopes belong to no API, even if one is registered with them, because they concern the user.
struct RegisteredAPIs: Sendable {
    /// The maximum number of APIs that an error names.
    private static let namedInErrors = 5

    /// All APIs, ordered by resource indicator.
    let all: [RegisteredResource]
    private let owners: [Scope.Token: [RegisteredResource]]

    init(_ apis: [RegisteredResource]) {
        all = apis
        var owners: [Scope.Token: [RegisteredResource]] = [:]
        for api in apis {
            for token in api.scope.tokens where !token.isStandard { owners[token, default: []].append(api) }
        }
        self.owners = owners
    }

    /// Returns the API that has every scope of `scope` that belongs to an API; nil if the token is for the default
    /// audience.
    ///
    /// The API that is registered with the default audience takes precedence over the others. A scope that belongs to
    /// no API has no influence.
    ///
    /// - Parameters:
    ///   - scope: The scope.
    ///   - defaultAudience: The audience of tokens for no API.
    ///   - named: The APIs that an error may name; nil for all.
    /// - Throws: `invalid_scope` if no API has all these scopes, or several have (RFC 9068 §3).
    func api(
        of scope: Scope, defaultAudience: String, naming named: [Resource]?
    ) throws(OAuthError) -> RegisteredResource? {
        let owned = scope.tokens.filter { owners[$0] != nil }
        guard let first = owned.first, let candidates = owners[first] else { return nil }
        let wholly = candidates.filter { api in owned.allSatisfy(api.scope.contains) }
        if let audience = try? Resource(defaultAudience), wholly.contains(where: { $0.resource == audience }) {
            return nil
        }
        guard let api = wholly.first, wholly.count == 1 else { throw several(owned, naming: named) }
        return api
    }

    /// Returns whether no scope of `scope` belongs to several APIs.
    func haveOneOwner(_ scope: Scope) -> Bool { scope.tokens.allSatisfy { owners[$0]?.count ?? 0 <= 1 } }

    /// Creates the error for scopes from which no single API follows; it names APIs of `named` and their scopes.
    private func several(_ owned: [Scope.Token], naming named: [Resource]?) -> OAuthError {
        let listed = all.filter { named?.contains($0.resource) ?? true }.compactMap { api in
            let shared = Scope(owned.filter(api.scope.contains))
            return shared.isEmpty ? nil : "\(api.resource) (\(shared))"
        }
        let names = listed.isEmpty ? "" : ": " + listed.prefix(Self.namedInErrors).joined(separator: ", ")
        let more = listed.count > Self.namedInErrors ? " and \(listed.count - Self.namedInErrors) more" : ""
        return OAuthError(
            .invalidScope,
            "the requested scope belongs to several APIs\(names)\(more); "
                + "name the APIs of the token with resource=URI (RFC 8707), or request the scopes of one API")
    }
}

extension CurrentRegistry {
    /// Looks up the APIs of a token: those that a request or grant names or, if it names none, the one that follows
    /// from its scope (RFC 9068 §3).
    ///
    /// With the scope `openid`, the server itself is added to the API that follows from the scope, so that the token
    /// is accepted at UserInfo. The result is empty if the token is for the default audience.
    ///
    /// - Throws: `invalid_scope` if no resource is named and the scope belongs to several APIs. The error names only
    ///   APIs that the client may have a token for.
    func apis(
        named resources: [Resource], orOf scope: Scope, of client: RegisteredClient, _ settings: ServerSettings
    ) async throws -> NamedResources {
        let claimScope = try await scopeClaims().scope
        guard resources.isEmpty else {
            return try await named(resources, issuer: settings.issuer, claimScope: claimScope)
        }
        let registered = try await self.apis()
        let allowed =
            client.isUnregistered ? try await effectiveUnregisteredClientPolicy(settings).resources : nil
        guard
            let api = try registered.api(
                of: scope, defaultAudience: settings.defaultAudience, naming: allowed)
        else { return NamedResources(known: [], unknown: []) }
        var followed = [api.resource]
        if scope.contains(.openID), let server = settings.issuer.resource, server != api.resource {
            followed.append(server)
        }
        let apis = try await named(followed, issuer: settings.issuer, claimScope: claimScope)
        // A scope of several APIs can mean access to another one where the user allowed it without an API.
        return NamedResources(
            known: apis.known, unknown: apis.unknown, followFromScope: registered.haveOneOwner(scope),
            claimScope: apis.claimScope)
    }
}

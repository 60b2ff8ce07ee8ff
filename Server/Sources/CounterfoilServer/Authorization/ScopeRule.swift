import CounterfoilProtocol
import CounterfoilStore

/// The rule for a request of more than its client may have, or of no scope of the API that it names (RFC 6749 §3.3).
enum ScopeRule: Sendable, Hashable {
    /// Such a request is refused: a developer registered the client for its scopes.
    case exact
    /// The server narrows the requested scope to the scopes of the client, and adds a default if nothing is left.
    ///
    /// No developer chose the scopes of such a client, and the client does not know them. Some clients request every
    /// scope in the metadata of the server. `byDefault` is the scope of a request that names no scope, or an API and
    /// none of its scopes.
    case narrowed(byDefault: Scope)
}

extension RegisteredClient {
    /// The rule for the requests of the client.
    var scopeRule: ScopeRule { defaultScope.map { .narrowed(byDefault: $0) } ?? .exact }
}

extension AuthorizationValidation {
    /// Returns the requested scope, and throws if the rule for the client is ``ScopeRule/exact`` and the client is not
    /// registered for all of it.
    ///
    /// Under ``ScopeRule/narrowed(byDefault:)``, the result can contain more than the client may have:
    /// `narrow(_:within:under:to:)` judges it together with the APIs.
    ///
    /// RFC 6749 §3.3: if the request names no scope, the default of a registered client is every scope of the client
    /// except the standard scopes of OpenID Connect.
    static func scope(
        _ asked: Scope?, assignedTo client: RegisteredClient, under rule: ScopeRule
    ) throws(OAuthError) -> Scope {
        guard let asked else {
            return switch rule {
            case .exact: Scope(client.scope.tokens.filter { !ScopeDefinition.ofUsers.contains($0) })
            case .narrowed(let byDefault): byDefault.intersection(client.scope)
            }
        }
        // OpenID Connect Core §11: `offline_access` is ignored if it is not registered for the client, or if the
        // client gets no refresh tokens.
        let getsNone =
            asked.contains(.offlineAccess)
            && !(client.scope.contains(.offlineAccess) && RefreshTokenTerms.areIssued(to: client, for: asked))
        let wanted = getsNone ? asked.without(.offlineAccess) : asked
        guard rule == .exact, !wanted.isSubset(of: client.scope) else { return wanted }
        try client.checkReserved(wanted)
        throw OAuthError(
            .invalidScope, "this client is not registered for these scopes: \(wanted.subtracting(client.scope))")
    }

    /// Narrows a requested scope to the APIs that the request names, and throws if one of them is not registered or
    /// nothing is left.
    ///
    /// The standard scopes of OpenID Connect, and the scopes of the owner with claims, are kept, because they belong to
    /// the server itself: they apply to the ID token, UserInfo and refresh tokens.
    ///
    /// - Parameters:
    ///   - requested: The scope of the request, or its default.
    ///   - allowed: Every scope that the client may have.
    ///   - rule: The rule for the client.
    ///   - named: The APIs that the request names.
    static func narrow(
        _ requested: Scope, within allowed: Scope, under rule: ScopeRule, to named: NamedResources
    ) throws(OAuthError) -> Scope {
        let named = try named.checked()
        return switch rule {
        case .exact: try narrow(requested, to: named)
        case .narrowed(let byDefault):
            try named.isEmpty
                ? narrow(requested, within: allowed)
                : narrow(requested, within: allowed, default: byDefault.intersection(allowed), to: named)
        }
    }

    private static func narrow(_ requested: Scope, to named: NamedResources) throws(OAuthError) -> Scope {
        guard !named.isEmpty else { return requested }
        guard requested.tokens.contains(where: named.scope.contains) else {
            throw OAuthError(
                .invalidScope,
                named.scope.isEmpty
                    ? "no scopes are registered for the resource \(named.description)"
                    : "no requested scope is registered for the resource \(named.description), which has: \(named.scope)"
            )
        }
        return requested.kept(at: named)
    }

    /// Leaves out the scopes that the client may not have; throws if the request names such scopes and no scope of an
    /// API is left.
    private static func narrow(_ requested: Scope, within allowed: Scope) throws(OAuthError) -> Scope {
        let kept = requested.intersection(allowed)
        guard requested.isSubset(of: allowed) || kept.tokens.contains(where: { !$0.isStandard }) else {
            let excess = Scope(requested.tokens.filter { !allowed.contains($0) })
            throw OAuthError(
                .invalidScope, "this client may not request these scopes: \(excess); omit scope to get the default")
        }
        return kept
    }

    /// Leaves out the scopes that the client may not have, and adds `byDefault` if the request names no scope of the
    /// APIs.
    private static func narrow(
        _ requested: Scope, within allowed: Scope, default byDefault: Scope, to named: NamedResources
    ) throws(OAuthError) -> Scope {
        let kept = requested.intersection(allowed).kept(at: named)
        guard kept.intersection(named.scope).isEmpty else { return kept }
        let refused = requested.intersection(named.scope)
        guard refused.isEmpty else {
            throw OAuthError(
                .invalidScope,
                "this client may not request these scopes of the resource \(named.description): \(refused); "
                    + "omit scope to get the default")
        }
        let added = byDefault.intersection(named.scope)
        guard !added.isEmpty else {
            throw OAuthError(
                .invalidScope,
                "the resource \(named.description) has no default scope for unregistered clients; "
                    + "request one of its scopes, or register the client")
        }
        return kept.union(added)
    }
}

extension Scope {
    /// Returns the scopes that belong to the APIs, and those of the server itself: the standard scopes of OpenID
    /// Connect, and the scopes of the owner with claims.
    fileprivate func kept(at named: NamedResources) -> Scope {
        let scope = named.scope
        return Scope(tokens.filter { scope.contains($0) || $0.isStandard || named.claimScope.contains($0) })
    }
}

import CounterfoilProtocol

/// The access that a request asks the user to allow, whichever endpoint received the request.
///
/// Only ``AuthorizationValidation`` creates one: the client may have every scope, and the scope is narrowed to the APIs
/// that the request names.
struct RequestedAccess: Sendable {
    let client: RegisteredClient
    /// The requested scope with defaults applied.
    ///
    /// If the request names APIs, the scope contains only their scopes and the standard scopes of OpenID Connect.
    let scope: Scope
    /// The scopes that cover individually requested claims (OpenID Connect Core §5.5), in addition to ``scope``.
    let claimScope: Scope
    /// The APIs that the request names; empty if it names none.
    let apis: [NamedResources.Known]

    /// Every scope that the user is asked to allow: ``scope`` and ``claimScope``.
    var asked: Scope { scope.union(claimScope) }
}

extension AuthorizationValidation {
    /// Checks the scope and the APIs of a device authorization request, with the rules for authorization requests.
    ///
    /// - Parameters:
    ///   - scope: The requested scope; nil if the request names none.
    ///   - named: The APIs that the request names.
    ///   - client: The client of the request.
    static func access(
        to scope: Scope?, at named: NamedResources, by client: RegisteredClient
    ) throws(OAuthError) -> RequestedAccess {
        let rule = client.scopeRule
        let asked = try self.scope(scope, assignedTo: client, under: rule)
        return RequestedAccess(
            client: client, scope: try narrow(asked, within: client.scope, under: rule, to: named),
            claimScope: Scope(), apis: named.known)
    }
}

extension ValidatedAuthorization {
    /// The access that the user is asked to allow.
    var access: RequestedAccess {
        RequestedAccess(client: client, scope: scope, claimScope: claimScope, apis: apis)
    }
}

extension Consent {
    /// Returns true if the user has already allowed every scope of a request for the APIs that it names.
    func remembers(_ access: RequestedAccess) -> Bool {
        access.asked.tokens.allSatisfy { remembers($0, at: access.apis.map(\.resource)) }
    }
}

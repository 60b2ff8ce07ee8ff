import CounterfoilProtocol
import CounterfoilStore

/// The access that a request asks the user to allow, whichever endpoint received the request.
///
/// It comes from a ``ValidatedAuthorization`` or from ``CurrentRegistry``: the client may have every scope, and the
/// scope is narrowed to the APIs that the request names, or that follow from its scope.
struct RequestedAccess: Sendable {
    let client: RegisteredClient
    /// The requested scope with defaults applied.
    ///
    /// If the request has APIs, the scope contains only their scopes and those of the server itself.
    let scope: Scope
    /// The scopes that cover individually requested claims (OpenID Connect Core §5.5), in addition to ``scope``.
    let claimScope: Scope
    /// The APIs that the request names, or that follow from its scope; empty if the tokens have the default audience.
    let named: NamedResources

    /// The APIs in ``named``, all of which are registered.
    var apis: [NamedResources.NamedResource] { named.known }

    /// Every scope that the user is asked to allow: ``scope`` and ``claimScope``.
    var asked: Scope { scope.union(claimScope) }

    /// The APIs for which a consent remembers the answer of the user.
    ///
    /// The server itself is none of them: its scopes concern the user, and a consent remembers them once.
    var consentTarget: ConsentTarget {
        let own = apis.filter { !$0.isServer }.map(\.resource)
        guard let first = own.first else { return .service }
        return named.followFromScope ? .apiOfScope(first) : .apis(own)
    }
}

extension Consent {
    /// Returns true if the user has already allowed every scope of a request for its APIs.
    func remembers(_ access: RequestedAccess) -> Bool {
        access.asked.tokens.allSatisfy { remembers($0, at: access.consentTarget) }
    }
}

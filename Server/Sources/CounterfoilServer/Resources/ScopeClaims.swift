import CounterfoilProtocol
import CounterfoilStore

/// The claims about a user that the scopes of the owner release, beside those of OpenID Connect.
struct ScopeClaims: Sendable {
    private let releases: [Scope.Token: ReleasedClaims]
    /// The scopes with claims in the ID token or in UserInfo that belong to no API.
    ///
    /// They belong to the server itself, as `profile` does, so a request that names an API can have them.
    let scope: Scope

    init(_ scopes: [ScopeDefinition], beside apis: [RegisteredResource]) {
        let releasing = scopes.filter { !$0.claims.isEmpty && !$0.token.isStandard }
        releases = Dictionary(releasing.map { ($0.token, $0.claims) }) { first, _ in first }
        scope = Scope(
            releasing.filter { scope in
                !scope.claims.places.isDisjoint(with: [.idToken, .userInfo])
                    && !apis.contains { $0.scope.contains(scope.token) }
            }.map(\.token))
    }

    /// Every scope with claims.
    var releasing: Scope { Scope(Array(releases.keys)) }

    /// Returns the names of the claims that a scope releases in a place.
    func names(for scope: Scope, in place: ReleasedClaims.Place) -> Set<String> {
        guard !releases.isEmpty else { return [] }
        return scope.tokens.reduce(into: []) { names, token in
            guard let release = releases[token], release.places.contains(place) else { return }
            names.formUnion(release.names.map(\.rawValue))
        }
    }

    /// Returns scopes that cover claims by name, one scope for each claim that no scope of `covered` covers.
    ///
    /// - Parameters:
    ///   - names: The names of the claims, of which those that no scope covers are ignored.
    ///   - place: The place of the claims.
    ///   - scope: The scopes that the client may have in this request.
    ///   - covered: The scopes that the request has.
    func scope(
        covering names: Set<String>, in place: ReleasedClaims.Place, within scope: Scope, besides covered: Scope
    ) -> Scope {
        guard !releases.isEmpty else { return Scope() }
        var covering = covered
        for name in names.sorted() where !self.names(for: covering, in: place).contains(name) {
            let candidates = scope.tokens.filter { self.names(for: Scope([$0]), in: place).contains(name) }
            if let first = candidates.min(by: { $0.rawValue < $1.rawValue }) {
                covering = covering.union(Scope([first]))
            }
        }
        return covering.subtracting(covered)
    }
}

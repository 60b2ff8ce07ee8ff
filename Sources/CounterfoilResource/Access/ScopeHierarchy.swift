public import CounterfoilProtocol

/// The scope tokens of an API that include others, such as `photos.write` that includes `photos.read`.
///
/// RFC 6749 §3.3 defines no relation between scope tokens, so each API states its own. An access token with the broader
/// scope token passes a check for the narrower one. The relation is transitive.
public struct ScopeHierarchy: Sendable, Hashable {
    private let included: [Scope.Token: Scope]

    /// The hierarchy in which no scope token includes another.
    public static let flat = ScopeHierarchy([:] as [Scope.Token: Scope])

    /// Creates a hierarchy from scope tokens and the scopes that they include.
    public init(_ included: [Scope.Token: Scope]) { self.included = included }

    /// Creates a hierarchy from strings: `try ScopeHierarchy(["photos.write": "photos.read"])`.
    ///
    /// - Throws: `Scope.Refusal` if a key is not one scope token, or a value is not a scope.
    public init(_ included: [String: String]) throws(Scope.Refusal) {
        var scopes: [Scope.Token: Scope] = [:]
        for (broader, narrower) in included {
            guard let token = Scope.Token(broader) else { throw .malformed }
            scopes[token] = try Scope(parsing: narrower)
        }
        self.init(scopes)
    }

    /// Returns the scope with every scope token that its scope tokens include.
    func expanding(_ scope: Scope) -> Scope {
        guard !included.isEmpty else { return scope }
        var all = scope.tokens
        var seen = Set(all)
        var next = 0
        while next < all.count {
            for token in included[all[next]]?.tokens ?? [] where seen.insert(token).inserted { all.append(token) }
            next += 1
        }
        return Scope(all)
    }
}

import CounterfoilProtocol

/// What the scopes of the standards allow, as the consent page says it; the case is the scope's name.
enum ScopePhrase: String, Phrase {
    case openID = "scope.openid"
    case profile = "scope.profile"
    case email = "scope.email"
    case address = "scope.address"
    case phone = "scope.phone"
    case offlineAccess = "scope.offline_access"
}

extension Words {
    /// What a scope allows: in the owner's words, or in ours where the owner has left the standard's as they were.
    public func callAsFunction(_ scope: ScopeDefinition) -> String {
        let isOurs = ScopeDefinition.standard.contains { ours in
            ours.token == scope.token && ours.description == scope.description
        }
        guard isOurs, let phrase = ScopePhrase(rawValue: "scope.\(scope.token.rawValue)")
        else { return scope.description }
        return self(phrase)
    }
}

import CounterfoilProtocol

/// The descriptions of the standard scopes on the consent page; the raw value ends in the name of the scope.
enum ScopePhrase: String, LocalizationKey {
    case openID = "scope.openid"
    case profile = "scope.profile"
    case email = "scope.email"
    case address = "scope.address"
    case phone = "scope.phone"
    case offlineAccess = "scope.offline_access"
}

extension Localizer {
    /// Describes a scope: in the owner's words, or localized if the owner has kept the standard description.
    public func callAsFunction(_ scope: ScopeDefinition) -> String {
        let isOurs = ScopeDefinition.standard.contains { ours in
            ours.token == scope.token && ours.description == scope.description
        }
        guard isOurs, let phrase = ScopePhrase(rawValue: "scope.\(scope.token.rawValue)")
        else { return scope.description }
        return self(phrase)
    }
}

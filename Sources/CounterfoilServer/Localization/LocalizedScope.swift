import CounterfoilProtocol

extension Localizer {
    /// Describes a scope: in the owner's words, or localized if the owner has kept the standard description.
    package func callAsFunction(_ scope: ScopeDefinition) -> String {
        let isOurs = ScopeDefinition.standard.contains { ours in
            ours.token == scope.token && ours.description == scope.description
        }
        return isOurs ? self(LocalizedText(key: "scope.\(scope.token.rawValue)")) : scope.description
    }
}

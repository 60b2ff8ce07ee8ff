import CounterfoilProtocol
package import CounterfoilStore

extension Localizer {
    /// Describes a scope to a user.
    ///
    /// A standard scope whose description the owner has not changed is described in the user's language. Any other
    /// scope has only the description that the owner has entered.
    package func callAsFunction(_ scope: ScopeDefinition) -> String {
        let isOurs = ScopeDefinition.standard.contains { ours in
            ours.token == scope.token && ours.description == scope.description
        }
        return isOurs ? self(LocalizedText(key: "scope.\(scope.token.rawValue)")) : scope.description
    }
}

import CounterfoilProtocol
package import CounterfoilStore

extension Localizer {
    /// Describes a scope to a user.
    ///
    /// The text that the owner has entered for the language of the user comes first. Without one, a standard scope
    /// whose description the owner has not changed has the text of the catalogue, and any other scope its description
    /// in the standard language.
    package func callAsFunction(_ scope: ScopeDefinition) -> String {
        if let text = scope.texts[language] { return text }
        let isOurs = ScopeDefinition.standard.contains { ours in
            ours.token == scope.token && ours.description == scope.description
        }
        return isOurs ? self(LocalizedText(key: "scope.\(scope.token.rawValue)")) : scope.description
    }
}

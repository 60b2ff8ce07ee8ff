import CounterfoilProtocol
package import CounterfoilStore

extension ScopeDefinition {
    /// Whether the catalogue has the texts of the scope: it is a standard one whose description the owner has not
    /// changed.
    package var isTranslated: Bool {
        Self.standard.contains { $0.token == token && $0.description == description }
    }
}

extension Localizer {
    /// Describes a scope to a user.
    ///
    /// The text that the owner has entered for the language of the user comes first. Without one, a standard scope
    /// whose description the owner has not changed has the text of the catalogue, and any other scope its description
    /// in the standard language.
    package func callAsFunction(_ scope: ScopeDefinition) -> String {
        if let text = scope.texts[language] { return text }
        return scope.isTranslated ? self(LocalizedText(key: "scope.\(scope.token.rawValue)")) : scope.description
    }
}

import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens

extension ClientFormPage.LibrarySettings {
    /// Creates the fields of a form, each choice with its reason; nil for a type in which no user signs in.
    ///
    /// An empty value in the draft means that of the client or, for a new client, the default of the type.
    init?(
        _ draft: ClientDraft, type: ClientType, of client: RegisteredClient?, words: Localizer,
        problem: (ClientField) -> String?
    ) {
        guard type != .service else { return nil }
        let policy = client?.policy ?? .standard(for: type)
        func choices(_ field: ClientField, _ all: [FormChoices.Choice]) -> FormChoices {
            FormChoices(field.rawValue, all, problem: problem(field))
        }
        func choice(
            _ value: String, _ label: LocalizedText, _ reason: PolicyReason, isChosen: Bool
        ) -> FormChoices.Choice {
            FormChoices.Choice(value, label: words(label), detail: words(reason.text), isChosen: isChosen)
        }
        if type.hasRedirectURIs {
            // An exception that an administrator has made stays, unless the developer chooses a safe policy.
            let exception =
                policy.pkce.isException
                ? [
                    choice(
                        "", policy.pkce.text, PolicyReason(policy.pkce, of: type), isChosen: draft.pkce.isEmpty)
                ] : []
            let chosen = draft.pkce.isEmpty && !policy.pkce.isException ? policy.pkce.description : draft.pkce
            pkce = choices(
                .pkce,
                PKCEPolicy.safe(for: type).map {
                    choice(
                        $0.description, $0.text, PolicyReason($0, of: type), isChosen: $0.description == chosen)
                } + exception)
        }
        let algorithm = draft.idTokenAlgorithm.isEmpty ? policy.idTokenAlgorithm.rawValue : draft.idTokenAlgorithm
        idTokenAlgorithm = choices(
            .idTokenAlgorithm,
            KeyRing.algorithms.map {
                FormChoices.Choice(
                    $0.rawValue, label: $0.rawValue, detail: words(PolicyReason($0).text),
                    isChosen: $0.rawValue == algorithm)
            })
        let claims =
            draft.userClaimsInIDToken.isEmpty ? String(policy.putsUserClaimsInIDToken) : draft.userClaimsInIDToken
        userClaimsInIDToken = choices(
            .userClaimsInIDToken,
            [true, false].map { isOn in
                choice(
                    String(isOn), PolicyLabel(isOn).text, PolicyReason(userClaimsInIDToken: isOn),
                    isChosen: String(isOn) == claims)
            })
    }
}

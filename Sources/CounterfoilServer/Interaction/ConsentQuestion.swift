import CounterfoilProtocol

/// What the consent page says: who asks whom for what, and what has been answered before; from facts alone.
struct ConsentQuestion: Sendable {
    let authorization: ValidatedAuthorization
    let person: Person
    /// What the person has allowed the application before.
    let earlier: Consent?
    let settings: ServerSettings
    let words: Words

    /// The page.
    ///
    /// - Parameter definitions: what the scopes that exist are called.
    func page(
        definitions: [ScopeDefinition],
        action: String,
        request: String,
        ticket: String
    ) -> ConsentPage {
        let client = authorization.client
        let presentation = client.presentation
        return ConsentPage(
            applicationName: client.displayName,
            publisher: presentation.publisher.flatMap { DisplayName.isVisible($0) ? DisplayName($0) : nil },
            applicationLogo: presentation.logo.map { settings.issuer.path(of: $0) },
            isVouchedFor: client.policy.isTrusted,
            redirectDestination: .init(authorization.redirectURI),
            personName: DisplayName(person.displayName, orElse: person.username.rawValue),
            personEmail: person.email.map { MaskedEmail($0.rawValue) },
            action: action,
            switchAccountAction: action,
            request: request,
            ticket: ticket,
            permissions: permissions(definitions),
            applicationWords: presentation.consentText.flatMap { try? ConsentText(markdown: $0).html },
            privacy: presentation.privacyURI.flatMap { .init($0) },
            terms: presentation.termsURI.flatMap { .init($0) },
            resource: resource,
            lifetime: lifetime,
            earlierConsent: earlierConsent
        )
    }

    private func permissions(_ definitions: [ScopeDefinition]) -> [ConsentPage.Permission] {
        let titles = Dictionary(
            definitions.map { ($0.token, words($0)) }, uniquingKeysWith: { first, _ in first })
        return authorization.scope.tokens.map { token in
            ConsentPage.Permission(
                scope: token.rawValue,
                title: titles[token] ?? token.rawValue,
                required: !authorization.client.optionalScope.contains(token),
                isNew: earlier.map { !$0.remembered.contains(token) } ?? false
            )
        }
    }

    private var lifetime: String {
        let seconds = authorization.client.policy.accessTokenLifetime ?? settings.accessTokenLifetime
        return words(Text(ConsentPhrase.lifetime, ["duration": .phrase(.duration(seconds: seconds))]))
    }

    /// The API that takes the access, where it is another than this service itself.
    private var resource: DisplayName? {
        let audience = settings.defaultAudience
        guard audience != settings.issuer.rawValue else { return nil }
        return DisplayName((try? AbsoluteURI(parsing: audience))?.host ?? audience)
    }

    private var earlierConsent: String? {
        guard let earlier else { return nil }
        let phrase: ConsentPhrase =
            if earlier.appearance != ClientAppearance(of: authorization.client) {
                .changedSince
            } else if authorization.scope.isSubset(of: earlier.remembered) {
                .allowedBefore
            } else {
                .allowedLessBefore
            }
        return words(Text(phrase, ["date": .date(earlier.allowedAt)]))
    }
}

extension ConsentPage.Link {
    /// A link to a page over https; nil for anything else, and for what hides where it leads.
    init?(_ uri: AbsoluteURI) {
        guard let link = ConsentLink(uri.rawValue), link.isPage else { return nil }
        self.init(address: link.address, host: link.name)
    }
}

extension ConsentPage.RedirectDestination {
    init(_ uri: RedirectURI) {
        self =
            switch uri.kind {
            case .loopback(.localhost, _): .thisComputerByName
            case .loopback(let host, _): .thisComputer(host: host.rawValue)
            case .privateUseScheme(let scheme): .app(scheme: scheme)
            case .https(let host): .website(host: host)
            }
    }
}

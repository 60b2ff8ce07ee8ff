import CounterfoilProtocol
import CounterfoilStore

/// The content of the consent page, computed from the request, the user and the earlier consent.
struct ConsentPresenter: Sendable {
    let access: RequestedAccess
    let redirectDestination: RedirectDestination
    let user: User
    /// The remembered consent of the user for the client.
    let earlier: Consent?
    /// Whether the user is asked about every scope again, also about those that the user allowed earlier.
    ///
    /// A request with `prompt=consent` (OpenID Connect Core §3.1.2.1) and that of a device (RFC 8628 §5.4) do so. The
    /// page of an unregistered client is shown for each request anyway, so its `prompt=consent` does not.
    let asksAgain: Bool
    /// The facts about an unregistered client; nil for a client that a person registered.
    let introduction: UnregisteredClientIntroduction?
    /// The branding, which contains the name and the consent text of the service.
    let branding: Branding
    /// The API that is registered with the default audience; nil if there is none.
    let defaultAPI: RegisteredResource?
    let settings: ServerSettings
    let formats: ContentFormats
    let words: Localizer

    /// Creates the page.
    ///
    /// - Parameter definitions: the scopes that exist, with their descriptions.
    func page(
        definitions: [ScopeDefinition],
        action: String,
        request: String,
        ticket: String
    ) -> ConsentPage {
        let client = access.client
        let presentation = client.presentation
        let statement = branding.statement(in: words.language)
        let language = branding.textLanguage(in: words.language)
        let allowed = allowedBefore
        let others = access.asked.tokens.filter { !allowed.contains($0) }
        // Users could take a text of a client that introduces itself for one of this service.
        let clientText = introduction == nil ? presentation.consentText : nil
        return ConsentPage(
            clientName: clientName,
            unregisteredClient: introduction?.section(of: client, at: redirectDestination, in: words),
            publisher: presentation.publisher.flatMap { DisplayName.isVisible($0) ? DisplayName($0) : nil },
            clientInitials: client.claimedName.initials,
            clientLogo: introduction?.logo.map { settings.issuer.path(of: $0) }
                ?? settings.issuer.logoPath(of: client),
            isVouchedFor: client.policy.isTrusted,
            isInDevelopment: client.isInDevelopment,
            redirectDestination: redirectDestination,
            userDisplayName: DisplayName(of: user),
            userEmail: MaskedEmail(of: user),
            action: action,
            switchAccountAction: action,
            request: request,
            ticket: ticket,
            permissions: permissions(others, definitions),
            allowedBefore: permissions(allowed, definitions),
            siteWords: statement.text.flatMap { try? ConsentText(markdown: $0, formats: formats).html },
            siteWordsLanguage: language == words.language ? nil : language.rawValue,
            sitePrivacy: statement.privacyURI.flatMap { .init($0) },
            clientText: clientText.flatMap { try? ConsentText(markdown: $0, formats: formats).html },
            privacy: presentation.privacyURI.flatMap { .init($0) },
            terms: presentation.termsURI.flatMap { .init($0) },
            resources: resources,
            lifetime: lifetime,
            earlierConsent: earlierConsent
        )
    }

    /// The name in the texts of the page.
    ///
    /// A client with a document is known by the host of the document, and its own name is a claim.
    private var clientName: DisplayName {
        access.client.documentAddress.map { DisplayName(host: $0.text) }
            ?? access.client.displayName(at: redirectDestination)
    }

    /// The requested scopes that the user is not asked about again, because the request adds others to them.
    ///
    /// A request that adds nothing asks about everything: the page is then shown because the client is not assured (RFC
    /// 8252 §8.6), or has `prompt=consent`. A client that looks different is asked about as a new one.
    private var allowedBefore: [Scope.Token] {
        guard let earlier, !asksAgain, earlier.appearance == ClientAppearance(of: access.client) else { return [] }
        let allowed = access.asked.tokens.filter { earlier.remembers($0, at: access.consentTarget) }
        return allowed.count < access.asked.tokens.count ? allowed : []
    }

    private func permissions(
        _ tokens: [Scope.Token], _ definitions: [ScopeDefinition]
    ) -> [ConsentPage.Permission] {
        let definitions = Dictionary(definitions.map { ($0.token, $0) }, uniquingKeysWith: { first, _ in first })
        return tokens.map { token in
            let definition = definitions[token]
            let wasAllowed = earlier?.remembers(token, at: access.consentTarget)
            return ConsentPage.Permission(
                scope: token.rawValue,
                title: definition.map { words($0) } ?? token.rawValue,
                required: !access.client.optionalScope.contains(token),
                isTicked: isTicked(definition, wasAllowed: wasAllowed),
                isNew: earlier?.knows(token, at: access.consentTarget) == false
            )
        }
    }

    /// Returns the initial state of the box of an optional permission.
    ///
    /// Without an earlier consent, the state is the default of the scope, which is unticked unless an administrator has
    /// set it. With an earlier consent, the box is ticked if the user allowed the permission and the client still looks
    /// the same.
    ///
    /// An earlier consent does not tell whether the user deselected a permission, withdrew it, or was never asked for
    /// it. In all three cases, the box starts unticked.
    private func isTicked(_ definition: ScopeDefinition?, wasAllowed: Bool?) -> Bool {
        guard let wasAllowed else { return definition?.startsTicked ?? false }
        return wasAllowed && earlier?.appearance == ClientAppearance(of: access.client)
    }

    private var lifetime: String {
        let client = access.client
        let name = LocalizedText.Value.name(clientName)
        guard !RefreshTokenTerms.areIssued(to: client, for: access.scope) else {
            let terms = RefreshTokenTerms(of: client, settings: settings)
            return words(
                LocalizedText(
                    "consent.lifetime-refreshed",
                    [
                        "application": name, "idle": .nested(.duration(seconds: Int(terms.idleLifetime))),
                        "duration": .nested(.duration(seconds: Int(terms.lifetime))),
                    ]))
        }
        let seconds = client.policy.accessTokenLifetime ?? settings.accessTokenLifetime
        return words(
            LocalizedText(
                "consent.lifetime",
                ["application": name, "duration": .nested(.duration(seconds: seconds))]))
    }

    /// The APIs that accept the tokens: those that the request names, or that follow from its scope.
    ///
    /// Without any, the tokens are for the default audience. The list is empty if only this service accepts them.
    private var resources: [DisplayName] {
        guard access.apis.isEmpty else {
            guard access.apis.contains(where: { !$0.isServer }) else { return [] }
            let site = Site(branding, settings: settings, language: words.language).name
            return access.apis.map { api in api.name.map { Self.name($0, of: api.resource.rawValue) } ?? site }
        }
        let audience = settings.defaultAudience
        guard audience != settings.issuer.rawValue else { return [] }
        return [defaultAPI.map { Self.name($0.name, of: audience) } ?? DisplayName(Self.host(of: audience))]
    }

    /// Returns the name of an API with its host.
    private static func name(_ name: String, of indicator: String) -> DisplayName {
        let host = host(of: indicator)
        return DisplayName("\(DisplayName(name, orElse: host)) (\(host))")
    }

    private static func host(of indicator: String) -> String {
        (try? AbsoluteURI(parsing: indicator))?.host ?? indicator
    }

    private var earlierConsent: String? {
        guard let earlier else { return nil }
        let date = ["date": LocalizedText.Value.date(earlier.allowedAt)]
        if earlier.appearance != ClientAppearance(of: access.client) {
            return words(LocalizedText("consent.changed-since", date))
        }
        if earlier.remembers(access) { return words(LocalizedText("consent.allowed-before", date)) }
        return access.asked.tokens.contains { earlier.knows($0, at: access.consentTarget) }
            ? words(LocalizedText("consent.allowed-less-before", date))
            : words(LocalizedText("consent.allowed-other-before", date))
    }
}

extension ConsentPage.Link {
    /// A link to an https page; nil for other schemes and for URLs that disguise their host.
    init?(_ uri: AbsoluteURI) {
        guard let link = ConsentLink(page: uri) else { return nil }
        self.init(address: link.address, host: link.name)
    }
}

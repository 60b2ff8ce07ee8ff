import CounterfoilProtocol

/// The data around every page: the service and the language.
package struct Frame: Sendable, Hashable {
    /// The service.
    package var site: Site
    /// The language.
    package var language: Language

    /// Creates a frame.
    package init(site: Site, language: Language = .english) {
        self.site = site
        self.language = language
    }
}

/// The name and the look of the service.
package struct Site: Sendable, Hashable {
    /// Its name.
    package let name: DisplayName
    /// The initials that replace a missing logo.
    package let initials: String
    /// The path of its logo; nil if it has none.
    package let logo: String?
    /// The URI where users get help: https or `mailto:`.
    package let supportURI: String?
    /// The https URL of its privacy policy.
    package let privacyURI: String?
    /// Whether the footer of a page has a link.
    package let hasLinks: Bool
    /// Its accent colour; nil for the default.
    package let accent: AccentColor?

    /// Creates a site from its parts.
    package init(
        name: DisplayName, logo: String? = nil, supportURI: String? = nil, privacyURI: String? = nil,
        accent: AccentColor? = nil
    ) {
        self.name = name
        initials = name.initials
        self.logo = logo
        self.supportURI = supportURI
        self.privacyURI = privacyURI
        hasLinks = supportURI != nil || privacyURI != nil
        self.accent = accent
    }

    /// Creates a site from the branding, with the settings of the server as defaults.
    package init(_ branding: Branding, settings: ServerSettings, language: Language = .standard) {
        self.init(
            name: branding.siteName.map { DisplayName($0, orElse: settings.siteName.description) } ?? settings.siteName,
            logo: branding.logo.map { settings.issuer.path(of: $0) },
            supportURI: branding.supportURI?.rawValue,
            privacyURI: branding.statement(in: language).privacyURI.flatMap { ConsentPage.Link($0)?.address },
            accent: branding.accent
        )
    }
}

extension Issuer {
    /// Returns the path at which a logo is served.
    package func path(of logo: LogoIdentifier) -> String { "\(path)/logos/\(logo.rawValue)" }

    /// Returns the path of a client's logo; nil if it has none.
    package func logoPath(of client: RegisteredClient) -> String? { client.presentation.logo.map { path(of: $0) } }
}

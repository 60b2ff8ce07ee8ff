import CounterfoilProtocol

/// The data around every page: the service and the language.
public struct Frame: Sendable, Hashable {
    /// The service.
    public var site: Site
    /// The language.
    public var language: Language

    /// Creates a frame.
    public init(site: Site, language: Language = .english) {
        self.site = site
        self.language = language
    }
}

/// The name and the look of the service.
public struct Site: Sendable, Hashable {
    /// Its name.
    public let name: DisplayName
    /// The initials that replace a missing logo.
    public let initials: String
    /// The path of its logo; nil if it has none.
    public let logo: String?
    /// The URI where users get help: https or `mailto:`.
    public let supportURI: String?
    /// The https URL of its privacy policy.
    public let privacyURI: String?
    /// Whether the footer of a page has a link.
    public let hasLinks: Bool
    /// Its accent colour; nil for the default.
    public let accent: AccentColor?

    /// Creates a site from its parts.
    public init(
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
    public init(_ branding: Branding, settings: ServerSettings, language: Language = .standard) {
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

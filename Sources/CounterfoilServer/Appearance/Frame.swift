import CounterfoilProtocol

/// What stands around every page: whose service it is, and in which language it speaks.
public struct Frame: Sendable, Hashable {
    /// The service.
    public var site: Site
    /// The language.
    public var language: Language

    /// Makes a frame.
    public init(site: Site, language: Language = .english) {
        self.site = site
        self.language = language
    }
}

/// The service as its owner wants it to look.
public struct Site: Sendable, Hashable {
    /// Its name.
    public let name: DisplayName
    /// What stands in the place of its logo where it has none.
    public let initials: String
    /// The path of its logo.
    public let logo: String?
    /// Where people get help: an https address or `mailto:`.
    public let supportURI: String?
    /// Its privacy policy, an https address.
    public let privacyURI: String?
    /// Tells that there is a link for the foot of a page.
    public let hasLinks: Bool
    /// Its colour; nil for ours.
    public let accent: AccentColor?

    /// Makes a look from its parts.
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

    /// What the owner has chosen; what he has not, as the server was started.
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
    /// The path at which a picture is served.
    package func path(of logo: LogoIdentifier) -> String { "\(path)/logos/\(logo.rawValue)" }
}

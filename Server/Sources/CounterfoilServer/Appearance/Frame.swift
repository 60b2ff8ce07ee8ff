import CounterfoilProtocol
package import CounterfoilStore

/// The data that every page shows besides its own contents: the service, the language and, after an error, the
/// reference.
package struct Frame: Sendable, Hashable {
    package var site: Site
    package var language: Language
    /// The identifier of a refused request, with which the operator finds it in the audit log and the log; nil on a
    /// page that reports no error.
    package var reference: String?

    package init(site: Site, language: Language = .english) {
        self.site = site
        self.language = language
    }
}

/// The name and look of the service, and its links for the footer of a page.
package struct Site: Sendable, Hashable {
    package let name: DisplayName
    /// The initials of the service, which are shown if it has no logo.
    package let initials: String
    /// The URL of the service's logo; nil if it has none.
    package var logo: String?
    /// The https URL or `mailto:` URI where users get help; nil for none.
    package let supportURI: String?
    /// The https URL of the service's privacy policy in the language of the page; nil for none.
    package let privacyURI: String?
    /// Whether the footer of a page has at least one link.
    package let hasLinks: Bool
    /// The accent colour of the pages; nil for the default.
    package let accent: AccentColor?

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
}

extension Issuer {
    /// Returns the path at which a logo is served.
    package func path(of logo: LogoIdentifier) -> String { "\(path)/logos/\(logo.rawValue)" }

    /// Returns the path of a client's logo; nil if it has none.
    package func logoPath(of client: RegisteredClient) -> String? { client.presentation.logo.map { path(of: $0) } }
}

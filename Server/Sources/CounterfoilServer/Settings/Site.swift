import CounterfoilProtocol
package import CounterfoilStore

extension Site {
    /// Creates a site from the branding; a missing or invisible name is replaced by the name in the settings.
    package init(_ branding: Branding, settings: ServerSettings, language: Language = .standard) {
        self.init(
            name: branding.siteName.map { DisplayName($0, orElse: settings.siteName.description) } ?? settings.siteName,
            logo: branding.logo.map { settings.issuer.path(of: $0) },
            supportURI: branding.supportURI?.rawValue,
            privacyURI: branding.statement(in: language).privacyURI.flatMap { ConsentLink(page: $0)?.address },
            accent: branding.accent
        )
    }
}

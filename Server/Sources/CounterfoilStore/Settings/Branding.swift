public import CounterfoilProtocol

/// The text and the privacy policy with which the server's owner presents the service on the consent page, in one
/// language.
public struct SiteStatement: Sendable, Hashable {
    /// The statement in Markdown, at most 4,000 characters; nil for none.
    public var text: String?
    /// The URL of the privacy policy of the service, https; nil for none.
    public var privacyURI: AbsoluteURI?

    /// Creates a statement; empty by default.
    public init(text: String? = nil, privacyURI: AbsoluteURI? = nil) {
        self.text = text
        self.privacyURI = privacyURI
    }

    /// Whether the statement has neither a text nor a privacy policy.
    public var isEmpty: Bool { text == nil && privacyURI == nil }
}

/// The name, logo, color and statements with which the server's owner adapts the pages.
public struct Branding: Sendable, Hashable {
    /// The name of the service, 1 to 60 characters; nil for the name from the server's configuration.
    public var siteName: String?
    /// The identifier of the logo, whose image the store keeps; nil for none.
    public var logo: LogoIdentifier?
    /// The accent color, from which the light and the dark theme are derived; nil for the default color.
    public var accent: AccentColor?
    /// The URL of the support page, https or `mailto:`; nil for none.
    public var supportURI: AbsoluteURI?
    /// The statements on the consent page, by language.
    ///
    /// A store does not keep a statement that has neither a text nor a privacy policy.
    public var statements: [Language: SiteStatement]
    /// The number of changes so far.
    ///
    /// A store rejects an update that is based on another revision (see
    /// ``BrandingStore/updateBranding(_:logo:recording:)``).
    public var revision: Int

    /// Creates a branding; the default values give the default look.
    public init(
        siteName: String? = nil,
        logo: LogoIdentifier? = nil,
        accent: AccentColor? = nil,
        supportURI: AbsoluteURI? = nil,
        statements: [Language: SiteStatement] = [:],
        revision: Int = 0
    ) {
        self.siteName = siteName
        self.logo = logo
        self.accent = accent
        self.supportURI = supportURI
        self.statements = statements
        self.revision = revision
    }
}

extension Branding {
    /// Returns the statement in a language; a missing text or URL is taken from the statement in
    /// ``Language/standard``.
    public func statement(in language: Language) -> SiteStatement {
        let (own, standard) = (statements[language], statements[.standard])
        return SiteStatement(
            text: own?.text ?? standard?.text, privacyURI: own?.privacyURI ?? standard?.privacyURI)
    }

    /// Returns the language of the text that ``statement(in:)`` returns.
    package func textLanguage(in language: Language) -> Language {
        statements[language]?.text == nil ? .standard : language
    }
}

/// The outcome of ``BrandingStore/updateBranding(_:logo:recording:)``.
public enum UpdateBrandingOutcome: Sendable, Hashable {
    /// The branding was changed, and its revision increased by one.
    case updated
    /// Another update changed the branding after it was read; nothing was written.
    case changedMeanwhile
}

/// The changes of the branding that the server's owner has chosen; ``RegistryReader`` reads it.
public protocol BrandingStore: Sendable {
    /// Changes the branding if its stored revision still equals that of `branding`, and increases the revision by
    /// one.
    ///
    /// The store takes the logo from `logo`, not from ``Branding/logo``. In the same transaction, it deletes the
    /// former logo if neither the branding nor a client still uses it.
    func updateBranding(
        _ branding: Branding, logo: LogoChange, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateBrandingOutcome
}

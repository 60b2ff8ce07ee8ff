public import CounterfoilProtocol

/// The owner's statement on the consent page, in one language.
public struct SiteStatement: Sendable, Hashable {
    /// The text of the statement in Markdown, at most 4,000 characters.
    public var text: String?
    /// The privacy policy of the service, an https URL.
    public var privacyURI: AbsoluteURI?

    /// Creates a statement; empty by default.
    public init(text: String? = nil, privacyURI: AbsoluteURI? = nil) {
        self.text = text
        self.privacyURI = privacyURI
    }

    /// Whether the statement has neither a text nor a privacy policy.
    public var isEmpty: Bool { text == nil && privacyURI == nil }
}

/// The owner's name, logo, color and statements for the pages.
public struct Branding: Sendable, Hashable {
    /// The name of the service, 1 to 60 characters; nil for the name from the server's configuration.
    public var siteName: String?
    /// The identifier of the logo; the store keeps the image.
    public var logo: LogoIdentifier?
    /// The accent color, from which the light and the dark theme are derived; nil for the default.
    public var accent: AccentColor?
    /// The URL of the support page: https or `mailto:`.
    public var supportURI: AbsoluteURI?
    /// The statements of the service on the consent page, by language.
    ///
    /// A store keeps no empty statement.
    public var statements: [Language: SiteStatement]
    /// The number of changes so far.
    ///
    /// A store rejects an update that was made from another revision.
    public var revision: Int

    /// Creates a branding; without arguments the default look.
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
    /// Returns the statement for a language; parts that it lacks come from ``Language/standard``.
    public func statement(in language: Language) -> SiteStatement {
        let (own, standard) = (statements[language], statements[.standard])
        return SiteStatement(
            text: own?.text ?? standard?.text, privacyURI: own?.privacyURI ?? standard?.privacyURI)
    }

    /// Returns the language in which ``statement(in:)`` has its text.
    func textLanguage(in language: Language) -> Language {
        statements[language]?.text == nil ? .standard : language
    }
}

/// The outcome of ``BrandingStore/updateBranding(_:logo:)``.
public enum UpdateBrandingOutcome: Sendable, Hashable {
    /// The branding was changed, and its revision increased by one.
    case updated
    /// The branding was changed since it was read; nothing was written.
    case changedMeanwhile
}

/// The branding that the owner has chosen.
public protocol BrandingStore: Sendable {
    /// Reads the branding; the default look with revision 0 until the first update.
    func branding() async throws(StoreFault) -> Branding
    /// Changes the branding if its stored revision is still that of `branding`.
    ///
    /// The logo follows from `logo`, not from ``Branding/logo``. A logo that neither the branding nor a
    /// client uses any more is deleted in the same transaction.
    func updateBranding(_ branding: Branding, logo: LogoChange) async throws(StoreFault) -> UpdateBrandingOutcome
}

public import CounterfoilProtocol

/// The owner's own words on the consent page, in one language.
public struct SiteStatement: Sendable, Hashable {
    /// What the service says of the access that is asked for, in Markdown; at most 4,000 characters.
    public var text: String?
    /// The privacy policy of the service, an https address.
    public var privacyURI: AbsoluteURI?

    /// Makes a statement; empty unless given.
    public init(text: String? = nil, privacyURI: AbsoluteURI? = nil) {
        self.text = text
        self.privacyURI = privacyURI
    }

    /// Tells that there is neither a text nor a policy.
    public var isEmpty: Bool { text == nil && privacyURI == nil }
}

/// How the pages look like the owner's own, and what the owner says on them.
public struct Branding: Sendable, Hashable {
    /// The name of the service, 1 to 60 characters; nil for the one that the server was started with.
    public var siteName: String?
    /// Its picture; the store keeps it.
    public var logo: LogoIdentifier?
    /// Its colour, from which both the light and the dark pages take theirs; nil for our own.
    public var accent: AccentColor?
    /// Where people get help: an https address or `mailto:`.
    public var supportURI: AbsoluteURI?
    /// What the service itself says on the consent page, by language; an empty statement is kept by no store.
    public var statements: [Language: SiteStatement]
    /// How often it was changed; a store changes it only for who has seen the newest.
    public var revision: Int

    /// Makes a branding; empty for our own.
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
    /// The statement for a language; what that language lacks is taken from ``Language/standard``.
    public func statement(in language: Language) -> SiteStatement {
        let (own, standard) = (statements[language], statements[.standard])
        return SiteStatement(
            text: own?.text ?? standard?.text, privacyURI: own?.privacyURI ?? standard?.privacyURI)
    }
}

/// What happened when the branding was to be changed.
public enum UpdateBrandingOutcome: Sendable, Hashable {
    /// It is changed now, and its revision is one more.
    case updated
    /// Somebody else has changed it since it was read; nothing was written.
    case changedMeanwhile
}

/// The look that the owner has chosen.
public protocol BrandingStore: Sendable {
    /// The branding; our own look while nobody has chosen one.
    func branding() async throws(StoreFault) -> Branding
    /// Changes the branding from the revision that it was read at.
    func updateBranding(_ branding: Branding, logo: LogoChange) async throws(StoreFault) -> UpdateBrandingOutcome
}

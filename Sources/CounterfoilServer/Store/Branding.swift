public import CounterfoilProtocol

/// How the pages look like the owner's own.
public struct Branding: Sendable, Hashable {
    /// The name of the service, 1 to 60 characters; nil for the one that the server was started with.
    public var siteName: String?
    /// Its picture; the store keeps it.
    public var logo: LogoIdentifier?
    /// Its colour, from which both the light and the dark pages take theirs; nil for our own.
    public var accent: AccentColor?
    /// Where people get help: an https address or `mailto:`.
    public var supportURI: AbsoluteURI?
    /// How often it was changed; a store changes it only for who has seen the newest.
    public var revision: Int

    /// Makes a branding; empty for our own.
    public init(
        siteName: String? = nil,
        logo: LogoIdentifier? = nil,
        accent: AccentColor? = nil,
        supportURI: AbsoluteURI? = nil,
        revision: Int = 0
    ) {
        self.siteName = siteName
        self.logo = logo
        self.accent = accent
        self.supportURI = supportURI
        self.revision = revision
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

public import CounterfoilProtocol

/// What an operator can set; safe as it is.
public struct ServerSettings: Sendable, Hashable {
    /// The identifier of the server, from which every address follows.
    public var issuer: Issuer
    /// The name that pages show.
    public var siteName: DisplayName
    /// `aud` of access tokens for which no resource was named (RFC 9068 §3); the issuer unless set.
    public var defaultAudience: String
    /// How long a code lives, in seconds (RFC 6749 §4.1.2).
    public var codeLifetime: Int = 60
    /// How long an access token lives, in seconds, `expires_in`.
    public var accessTokenLifetime: Int = 3600
    /// How long an ID token lives, in seconds.
    public var idTokenLifetime: Int = 3600
    /// How long a refresh token outlives its last use, in seconds, for applications whose policy does not say.
    public var refreshTokenIdleLifetime: Int = 30 * 24 * 3600
    /// How long refresh tokens live however often they are used, in seconds, for applications whose policy does not say.
    public var refreshTokenLifetime: Int = 180 * 24 * 3600
    /// How long a page may wait for its answer, in seconds.
    public var pageLifetime: Int = 30 * 60
    /// How long a session outlives the last visit of its browser, in seconds.
    public var sessionIdleLifetime: Int = 8 * 3600
    /// How long a session lives at most, in seconds.
    public var sessionLifetime: Int = 7 * 24 * 3600
    /// How long ago a user may have signed in to open a page of the console that changes a registration, in seconds.
    public var recentSignInAge: Int = 3600
    /// How old a signing key becomes before it is replaced, in days.
    public var keyLifetime: Int = KeySuccession.standardLifetime
    /// How long the audit log keeps an event, in days; nil keeps every event for ever.
    public var auditRetention: Int? = Self.standardAuditRetention
    /// When sign-ins are slowed down and refused.
    public var signInLimits = SignInLimits()

    /// The most authorizations that one user may approve in a minute, remembered approvals included.
    public var approvalsPerMinute: Int = 60

    /// Who registers applications at My Apps.
    public var registration = RegistrationPolicy.everyone
    /// How many applications one developer may register.
    public var applicationsPerDeveloper: Int = 50
    /// Schemes without a period that are taken as redirect URIs all the same: those of well-known editors.
    public var plainSchemes: Set<String> = Self.standardPlainSchemes

    /// Second paths of endpoints.
    public var endpointAliases = EndpointAliases()
    /// A second origin for the callback addresses of native clients; nil where there is none.
    public var callbackOrigin: CallbackOrigin?

    /// What ``plainSchemes`` is unless an operator says otherwise.
    public static let standardPlainSchemes: Set<String> = ["cursor", "vscode"]

    /// What ``auditRetention`` is unless an operator says otherwise: a year, and time to look back at it.
    public static let standardAuditRetention = 400

    /// The settings of a server that is new.
    public init(issuer: Issuer, siteName: DisplayName? = nil, defaultAudience: String? = nil) {
        self.issuer = issuer
        self.siteName =
            siteName ?? DisplayName(issuer.origin.split(separator: "/").last.map(String.init) ?? issuer.rawValue)
        self.defaultAudience = defaultAudience ?? issuer.rawValue
    }
}

/// Who registers applications at My Apps.
public enum RegistrationPolicy: String, Sendable, Hashable, CaseIterable {
    /// Everybody who has an account here.
    case everyone
    /// Administrators only.
    case administrators

    package func isOpen(to person: Person) -> Bool { self == .everyone || person.isAdministrator }
}

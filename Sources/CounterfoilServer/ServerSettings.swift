public import CounterfoilProtocol
import Foundation

/// The settings of an operator; the defaults are secure.
public struct ServerSettings: Sendable, Hashable {
    /// The issuer identifier, from which every URL of the server follows.
    public var issuer: Issuer
    /// The name of the service on pages.
    public var siteName: DisplayName
    /// The `aud` of access tokens without a requested resource (RFC 9068 §3); the issuer by default.
    public var defaultAudience: String
    /// The lifetime of a code in seconds (RFC 6749 §4.1.2).
    public var codeLifetime: Int = 60
    /// The lifetime of an access token in seconds, `expires_in`.
    public var accessTokenLifetime: Int = 3600
    /// The lifetime of an ID token in seconds.
    public var idTokenLifetime: Int = 3600
    /// The seconds that a refresh token outlives its last use, unless the policy of the client sets them.
    public var refreshTokenIdleLifetime: Int = 30 * 24 * 3600
    /// The lifetime of a token family in seconds, unless the policy of the client sets it.
    public var refreshTokenLifetime: Int = 180 * 24 * 3600
    /// The seconds for which a form on a page can be submitted.
    public var pageLifetime: Int = 30 * 60
    /// The seconds that a session outlives the last request of its browser.
    public var sessionIdleLifetime: Int = 8 * 3600
    /// The lifetime of a session in seconds.
    public var sessionLifetime: Int = 7 * 24 * 3600
    /// The age of a sign-in in seconds up to which a user may open a console page that changes a
    /// registration.
    public var recentSignInAge: Int = 3600
    /// The age of a signing key in days at which it is replaced.
    public var keyLifetime: Int = SigningKeyLifecycle.standardLifetime
    /// The retention period of the audit log in days; nil keeps every event.
    public var auditRetention: Int? = Self.standardAuditRetention
    /// The limits that slow down or refuse sign-ins.
    public var signInLimits = SignInLimits()

    /// The most authorizations that a user may approve in a minute, including those from remembered consent.
    public var approvalsPerMinute: Int = 60

    /// The users who may register clients at My Apps.
    public var registration = RegistrationPolicy.everyone
    /// The most clients of one developer.
    public var applicationsPerDeveloper: Int = 50
    /// The schemes without a period that are accepted as redirect URIs all the same, for well-known editors.
    public var plainSchemes: Set<String> = Self.standardPlainSchemes

    /// The alternative paths of endpoints.
    public var endpointAliases = EndpointAliases()
    /// A second origin for the callback URLs of native clients; nil if there is none.
    public var callbackOrigin: CallbackOrigin?

    /// The default of ``plainSchemes``.
    public static let standardPlainSchemes: Set<String> = ["cursor", "vscode"]

    /// The default of ``auditRetention``: a year, and some time to look back at it.
    public static let standardAuditRetention = 400

    /// Creates settings with default values.
    public init(issuer: Issuer, siteName: DisplayName? = nil, defaultAudience: String? = nil) {
        self.issuer = issuer
        self.siteName =
            siteName ?? DisplayName(issuer.origin.split(separator: "/").last.map(String.init) ?? issuer.rawValue)
        self.defaultAudience = defaultAudience ?? issuer.rawValue
    }

    /// The time at which the ticket of a page that is shown now expires.
    func pageEnd(from now: Date) -> Date { now.addingTimeInterval(TimeInterval(pageLifetime)) }
}

/// The users who may register clients at My Apps.
public enum RegistrationPolicy: String, Sendable, Hashable, CaseIterable {
    /// Every user.
    case everyone
    /// Administrators only.
    case administrators

    package func isOpen(to person: Person) -> Bool { self == .everyone || person.isAdministrator }
}

public import CounterfoilProtocol
public import CounterfoilStore
import Foundation

/// The settings of the server that an operator can change; the defaults are secure.
public struct ServerSettings: Sendable, Hashable {
    /// The issuer identifier, from which every URL of the server is derived.
    public var issuer: Issuer
    /// The name of the service on pages, unless the branding in the store has another name.
    public var siteName: DisplayName
    /// The `aud` of access tokens whose request names no resource and has no scope of an API (RFC 9068 §3); the issuer
    /// by default.
    public var defaultAudience: String
    /// The lifetime of an authorization code in seconds (RFC 6749 §4.1.2).
    public var codeLifetime: Int = 60
    /// The lifetime of an access token in seconds, sent as `expires_in`; the policy of a client can override it.
    public var accessTokenLifetime: Int = Self.standardTokenLifetime
    /// The lifetime of an ID token in seconds, which the policy of a client can override.
    public var idTokenLifetime: Int = Self.standardTokenLifetime
    /// The number of seconds without use after which a refresh token expires; the policy of a client can override
    /// it.
    public var refreshTokenIdleLifetime: Int = 30 * 24 * 3600
    /// The lifetime of a refresh token family in seconds, which the policy of a client can override.
    public var refreshTokenLifetime: Int = 180 * 24 * 3600
    /// The number of seconds for which a form can be submitted after its page was shown.
    public var pageLifetime: Int = 30 * 60
    /// The number of seconds without a request from the browser after which a session expires.
    public var sessionIdleLifetime: Int = 8 * 3600
    /// The maximum lifetime of a session in seconds, even if the session is in use.
    public var sessionLifetime: Int = 7 * 24 * 3600
    /// Whether users may choose on the sign-in page that the session cookie is persistent.
    public var sessionPersistence = SessionPersistence.offered
    /// The users who must prove a second factor after the password.
    public var secondFactor = SecondFactorPolicy.offered
    /// The number of days for which a browser can be remembered, so that it needs no code; 0 for never.
    public var secondFactorMemory = 30
    /// The number of seconds after a sign-in in which the user may open and submit console pages that change a
    /// registration.
    ///
    /// After this time, the user must sign in again first, or type the password into the form.
    public var recentSignInAge: Int = 3600
    /// The number of days for which a signing key signs before it is replaced.
    public var keyLifetime: Int = Self.standardKeyLifetime
    /// The number of days for which audit events are kept; nil keeps every event.
    public var auditRetention: Int? = Self.standardAuditRetention
    /// The rate limits that delay or refuse sign-ins after failures.
    public var signInLimits = SignInLimits()

    /// The maximum number of authorization requests that a user may approve in a minute, including those that
    /// are approved without a page.
    ///
    /// A user can sign in as often from one source, but at least 60 times.
    public var approvalsPerMinute: Int = 60
    var signInsPerMinute: Int { max(60, approvalsPerMinute) }
    /// The maximum number of used client assertions that a process keeps until they expire.
    package var usedAssertionLimit = ProofBudget.standardCapacity

    /// Whether every client must push its authorization requests (RFC 9126 §5).
    ///
    /// The member `require_pushed_authorization_requests` of the metadata.
    public var requiresPushedRequests = false
    /// The lifetime of a pushed authorization request in seconds, within which a browser must open it (RFC 9126 §2.2).
    public var pushedRequestLifetime = 60
    /// The lifetime of a `device_code` and its `user_code` in seconds (RFC 8628 §3.2).
    public var deviceCodeLifetime = 10 * 60
    /// Whether DPoP proofs must contain a nonce of this server (RFC 9449 §8).
    public var requiresProofNonce = false
    /// Whether `token_type` of a bearer token is `bearer`, for clients that compare it as text.
    ///
    /// The value is case-insensitive (RFC 6749 §5.1); the default is `Bearer`, the name in RFC 6750 §6.1.1.
    public var lowercasesTokenType = false

    /// The time in seconds for which browsers use https only, as sent by an https server (RFC 6797 §6.1.1).
    ///
    /// With 0, browsers forget it.
    public var strictTransportAge = Self.standardStrictTransportAge

    /// The page of the owner that signs users in; nil for none.
    public var externalSignIn: ExternalSignIn?
    /// The persons who may create an account of their own.
    public var signUp = SignUpPolicy.closed
    /// The https URL of the terms of the service, without which ``termsVersion`` has no effect; nil for none.
    public var termsURI: AbsoluteURI?
    /// The version of the terms that users must accept; nil for none.
    public var termsVersion: String?

    /// The users who may register clients on the My Apps page of the console.
    public var registration = RegistrationPolicy.everyone
    /// The approval of a client that a developer registers, or that registers itself.
    public var newClients = NewClientApproval.open
    /// The maximum number of clients that one developer may register.
    public var clientsPerDeveloper: Int = 50
    /// The private-use schemes that redirect URIs may have although they contain no period, such as those of
    /// well-known editors.
    public var plainSchemes: Set<String> = []

    /// Whether web and single-page clients may have development redirect URIs: http on the developer's own device.
    ///
    /// If false, none can be registered, and the registered ones match no request.
    public var allowsDevelopmentRedirectURIs = true

    /// The kinds of unregistered clients that this process accepts; nil if the stored
    /// `UnregisteredClientPolicy.kinds` decide.
    public var unregisteredClients: Set<UnregisteredClientKind>?

    /// The maximum number of clients that one source may register by themselves within an hour, changes included
    /// (RFC 7591 §3).
    public var registrationsPerSource = 50
    /// The same for all sources together.
    public var registrationsPerHour = 1000
    /// The header fields that scripts of other origins may send in addition to the CORS-safelisted ones (Fetch §3.2.2).
    public var crossOriginFields: [String] = Self.standardCrossOriginFields

    /// Whether the server has the administration API at `/api/v1`.
    public var offersAdministrationAPI = false

    /// Additional paths of endpoints, for clients in which the paths of another server are hard-coded.
    public var endpointAliases = EndpointAliases()
    /// A second origin for the callback URLs of native clients; nil if there is none.
    public var callbackOrigin: CallbackOrigin?

    /// The default of ``crossOriginFields``: what clients and libraries send.
    ///
    /// `X-Requested-With` has no meaning at the endpoints for scripts, but libraries such as Swagger UI send it. The
    /// last four are those of tracing: W3C Trace Context, W3C Baggage, and Sentry. A library adds them to each
    /// request.
    public static let standardCrossOriginFields = [
        "Content-Type", "Authorization", "DPoP", "MCP-Protocol-Version", "X-Requested-With", "traceparent",
        "tracestate", "baggage", "sentry-trace",
    ]

    /// The default of ``keyLifetime``.
    package static let standardKeyLifetime = 90
    /// The default of ``accessTokenLifetime`` and ``idTokenLifetime``.
    package static let standardTokenLifetime = 3600

    /// The default of ``auditRetention``: 400 days, so that a full year can still be reviewed in the month
    /// after it.
    public static let standardAuditRetention = 400

    /// The default of ``strictTransportAge``: two years, as the preload lists of browsers recommend.
    public static let standardStrictTransportAge = 63_072_000

    /// Creates settings with default values; the default of `siteName` is the host and the port of the issuer.
    public init(issuer: Issuer, siteName: DisplayName? = nil, defaultAudience: String? = nil) {
        self.issuer = issuer
        self.siteName =
            siteName ?? DisplayName(issuer.origin.split(separator: "/").last.map(String.init) ?? issuer.rawValue)
        self.defaultAudience = defaultAudience ?? issuer.rawValue
    }

    /// Returns the expiration time of the form ticket on a page that is shown at `now`.
    func pageEnd(from now: Date) -> Date { now.addingTimeInterval(TimeInterval(pageLifetime)) }
}

/// The choice on the sign-in page whether the session cookie stays in the browser when the browser is closed.
///
/// Each session ends after ``ServerSettings/sessionIdleLifetime`` and ``ServerSettings/sessionLifetime``, whatever the
/// user chooses.
public enum SessionPersistence: String, Sendable, Hashable, CaseIterable {
    /// No user has the choice, and no session cookie is persistent.
    case never
    /// The sign-in page has a checkbox that is not ticked, which is the default.
    case offered
    /// The sign-in page has a checkbox that is ticked.
    case ticked
}

/// The users who must prove a second factor after the password.
public enum SecondFactorPolicy: String, Sendable, Hashable, CaseIterable {
    /// No user can set up a second factor; one that exists is still asked for.
    case off
    /// Every user can set one up, which is the default.
    case offered
    /// Users whose role has rights of the administration must have one, and the others can.
    case administrators
    /// Every user must have one.
    case everyone

    /// Returns true if a user cannot sign in with the password alone.
    package func isRequired(of user: User) -> Bool {
        switch self {
        case .off, .offered: false
        case .administrators: user.hasRights
        case .everyone: true
        }
    }
}

/// The users who may register clients on the My Apps page of the console.
public enum RegistrationPolicy: String, Sendable, Hashable, CaseIterable {
    /// Every user may register clients, which is the default.
    case everyone
    /// Only users with the role `developer` and administrators may register clients.
    case developers
    /// Only administrators may register clients.
    case administrators

    package func isOpen(to user: User) -> Bool {
        switch self {
        case .everyone: true
        case .developers: user.role == .developer || user.may(.writeClients)
        case .administrators: user.may(.writeClients)
        }
    }
}

/// The approval of a client that no administrator has registered or approved.
public enum NewClientApproval: String, Sendable, Hashable, CaseIterable {
    /// Every user can sign in to it, which is the default.
    case open
    /// Only its developer and the users whom the developer names can sign in, until an administrator approves it.
    ///
    /// A client that registered itself has no developer, and is ``pending``.
    case development
    /// No user can sign in, until an administrator approves it.
    case pending

    /// Returns the approval of a client of a kind, which is nil if a developer registered it.
    package func approval(ofKind kind: UnregisteredClientKind? = nil) -> ClientApproval {
        switch self {
        case .open: .open
        case .development: kind == nil ? .development : .pending
        case .pending: .pending
        }
    }
}

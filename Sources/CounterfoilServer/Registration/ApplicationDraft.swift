import CounterfoilProtocol
import CounterfoilTokens

/// What somebody writes about an application, in a form or on a command line, before any rule has been applied to it.
public struct ApplicationDraft: Sendable, Hashable {
    /// `client_name`.
    public var name = ""
    /// Who publishes it; empty for nobody.
    public var publisher = ""
    /// `redirect_uris`.
    public var redirectURIs: [String] = []
    /// The names of the scopes that it may ask for.
    public var scopes: [String] = []
    /// The names of those that a person may leave out.
    public var optionalScopes: [String] = []
    /// Its words on the consent page, in Markdown; empty for none.
    public var consentText = ""
    /// `policy_uri`; empty for none.
    public var privacyURI = ""
    /// `tos_uri`; empty for none.
    public var termsURI = ""
    /// The origins of a single-page application; those of its redirect URIs when there are none.
    public var origins: [String] = []
    /// The apps of Apple's platforms that it is.
    public var appleApps: [String] = []
    /// The apps of Android that it is.
    public var androidApps: [String] = []
    /// `jwks`, the keys with which it authenticates, as JSON; empty for secrets.
    public var keys = ""
    /// `post_logout_redirect_uris`.
    public var postLogoutRedirectURIs: [String] = []
    /// `backchannel_logout_uri`; empty for none.
    public var backchannelLogoutURI = ""

    /// A draft with nothing written.
    public init() {}

    /// What is registered of an application, to be changed.
    public init(_ client: RegisteredClient) {
        name = client.presentation.name
        publisher = client.presentation.publisher ?? ""
        redirectURIs = client.redirectURIs.map(\.rawValue)
        scopes = client.scope.tokens.map(\.rawValue)
        optionalScopes = client.optionalScope.tokens.map(\.rawValue)
        consentText = client.presentation.consentText ?? ""
        privacyURI = client.presentation.privacyURI?.rawValue ?? ""
        termsURI = client.presentation.termsURI?.rawValue ?? ""
        origins = client.origins.map(\.rawValue)
        appleApps = client.appleApps.map(\.rawValue)
        androidApps = client.androidApps.map(\.description)
        keys = client.keys.map { String(decoding: $0.encoded(), as: UTF8.self) } ?? ""
        postLogoutRedirectURIs = client.postLogoutRedirectURIs.map(\.rawValue)
        backchannelLogoutURI = client.backchannelLogoutURI?.rawValue ?? ""
    }
}

/// What an administrator writes about the policy of an application, before any rule has been applied to it.
public struct PolicyDraft: Sendable, Hashable {
    /// Whether it belongs to the owner of this server.
    public var isFirstParty = false
    /// Whether somebody who runs this server knows who publishes it.
    public var isVouchedFor = false
    /// Whether its claimed https addresses are known to be its own.
    public var isClaimedHTTPSVerified = false
    /// `s256`, `s256-or-plain` or `exempt-until:DATE`.
    public var pkce = ""
    /// Whether a request without `state` is refused.
    public var requiresState = true
    /// `offline-access`, `always` or `never`.
    public var refreshTokens = ""
    /// Whether a refresh token is replaced each time that it is used: `true`, `false`, or empty for what is usual for its type.
    public var rotatesRefreshTokens = ""
    /// Seconds; empty for what is usual for its type.
    public var refreshGracePeriod = ""
    /// Seconds; empty for what is usual for its type.
    public var refreshIdleLifetime = ""
    /// Seconds; empty for what is usual for its type.
    public var refreshLifetime = ""
    /// Seconds; empty for what the server has set.
    public var accessTokenLifetime = ""
    /// Seconds; empty for what the server has set.
    public var idTokenLifetime = ""
    /// `block`, `warn` or `allow`.
    public var webViews = ""
    /// `ES256` or `RS256`.
    public var idTokenAlgorithm = ""
    /// `public` or `pairwise`.
    public var subjectType = ""
    /// The names of the scopes that are approved for requests of a service without a user.
    public var machineScopes: [String] = []

    /// What is decided about an application, to be changed.
    public init(_ policy: ClientPolicy) {
        isFirstParty = policy.isFirstParty
        isVouchedFor = policy.isVouchedFor
        isClaimedHTTPSVerified = policy.isClaimedHTTPSVerified
        pkce = policy.pkce.description
        requiresState = policy.requiresState
        refreshTokens = policy.refreshTokens.rawValue
        rotatesRefreshTokens = policy.refreshTokenLife.rotates.map(String.init) ?? ""
        refreshGracePeriod = policy.refreshTokenLife.gracePeriod.map(String.init) ?? ""
        refreshIdleLifetime = policy.refreshTokenLife.idleLifetime.map(String.init) ?? ""
        refreshLifetime = policy.refreshTokenLife.lifetime.map(String.init) ?? ""
        accessTokenLifetime = policy.accessTokenLifetime.map(String.init) ?? ""
        idTokenLifetime = policy.idTokenLifetime.map(String.init) ?? ""
        webViews = policy.webViews.rawValue
        idTokenAlgorithm = policy.idTokenAlgorithm.rawValue
        subjectType = policy.subjectType.rawValue
        machineScopes = policy.machineScope.tokens.map(\.rawValue)
    }
}

/// What can be written about an application; the raw value is the name of the field in a form.
public enum ApplicationField: String, Sendable, Hashable, CaseIterable {
    /// The whole of it.
    case whole = "form"
    /// What it is.
    case type
    /// Its name.
    case name
    /// Who publishes it.
    case publisher
    /// Where answers may go.
    case redirectURIs = "redirect_uris"
    /// What it may ask for.
    case scopes = "scope"
    /// What a person may leave out.
    case optionalScopes = "optional_scope"
    /// Its own words.
    case consentText = "consent_text"
    /// Its privacy policy.
    case privacyURI = "policy_uri"
    /// Its terms.
    case termsURI = "tos_uri"
    /// Where its scripts run.
    case origins
    /// Its apps of Apple's platforms.
    case appleApps = "apple_apps"
    /// Its apps of Android.
    case androidApps = "android_apps"
    /// Its keys.
    case keys = "jwks"
    /// Where a person may be sent after signing out.
    case postLogoutRedirectURIs = "post_logout_redirect_uris"
    /// Where it is told that a session has ended.
    case backchannelLogoutURI = "backchannel_logout_uri"
    /// Its picture.
    case logo
    /// Whether it belongs to the owner of the server.
    case firstParty = "first_party"
    /// Whether somebody knows who publishes it.
    case vouchedFor = "vouched_for"
    /// Whether its claimed addresses are its own.
    case claimedHTTPSVerified = "claimed_https_verified"
    /// How it proves that it began an authorization.
    case pkce
    /// The last day of an exemption from that.
    case exemptUntil = "exempt_until"
    /// Whether `state` is needed.
    case requireState = "require_state"
    /// When it gets refresh tokens.
    case refreshTokens = "refresh_tokens"
    /// Whether a refresh token is replaced each time that it is used.
    case rotatesRefreshTokens = "rotate_refresh_tokens"
    /// How long the answer to a refresh may be repeated.
    case refreshGracePeriod = "refresh_grace_period"
    /// How long its refresh tokens outlive their last use.
    case refreshIdleLifetime = "refresh_idle_lifetime"
    /// How long its refresh tokens live however often they are used.
    case refreshLifetime = "refresh_lifetime"
    /// How long its access tokens live.
    case accessTokenLifetime = "access_token_lifetime"
    /// How long its ID tokens live.
    case idTokenLifetime = "id_token_lifetime"
    /// Whether people may sign in for it inside a web-view.
    case webViews = "web_views"
    /// What signs its ID tokens.
    case idTokenAlgorithm = "id_token_signed_response_alg"
    /// Under which name it knows a person.
    case subjectType = "subject_type"
    /// Scopes for requests without a user.
    case machineScopes = "machine_scope"
}

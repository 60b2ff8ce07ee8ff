import CounterfoilProtocol
import CounterfoilTokens

/// The registration of a client as entered in a form or on the command line, before it is checked.
package struct ClientDraft: Sendable, Hashable {
    /// `client_name`.
    package var name = ""
    /// The publisher; empty for none.
    package var publisher = ""
    /// `redirect_uris`.
    package var redirectURIs: [String] = []
    /// The names of the scopes that the client may request.
    package var scopes: [String] = []
    /// The names of the scopes that a user may decline.
    package var optionalScopes: [String] = []
    /// The client's text on the consent page, in Markdown; empty for none.
    package var consentText = ""
    /// `policy_uri`; empty for none.
    package var privacyURI = ""
    /// `tos_uri`; empty for none.
    package var termsURI = ""
    /// The origins of a single-page app; empty for those of its redirect URIs.
    package var origins: [String] = []
    /// Its apps on Apple's platforms.
    package var appleApps: [String] = []
    /// Its Android apps.
    package var androidApps: [String] = []
    /// `jwks`, the keys with which it authenticates, as JSON; empty for a client with secrets.
    package var keys = ""
    /// `post_logout_redirect_uris`.
    package var postLogoutRedirectURIs: [String] = []
    /// `backchannel_logout_uri`; empty for none.
    package var backchannelLogoutURI = ""

    /// Creates an empty draft.
    package init() {}

    /// Creates a draft from a registered client, to edit it.
    package init(_ client: RegisteredClient) {
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

/// The policy of a client as an administrator entered it, before it is checked.
package struct PolicyDraft: Sendable, Hashable {
    /// Whether the client belongs to the owner of this server.
    package var isFirstParty = false
    /// Whether an administrator vouches for its publisher.
    package var isVouchedFor = false
    /// Whether an administrator has verified its claimed https redirect URIs.
    package var isClaimedHTTPSVerified = false
    /// `s256`, `s256-or-plain` or `exempt-until:DATE`.
    package var pkce = ""
    /// Whether a request without `state` is refused.
    package var requiresState = true
    /// `offline-access`, `always` or `never`.
    package var refreshTokens = ""
    /// Whether refresh tokens rotate at each use: `true`, `false`, or empty for the default of the client type.
    package var rotatesRefreshTokens = ""
    /// Seconds; empty for the default of the client type.
    package var refreshGracePeriod = ""
    /// Seconds; empty for the default of the client type.
    package var refreshIdleLifetime = ""
    /// Seconds; empty for the default of the client type.
    package var refreshLifetime = ""
    /// Seconds; empty for the setting of the server.
    package var accessTokenLifetime = ""
    /// Seconds; empty for the setting of the server.
    package var idTokenLifetime = ""
    /// `block`, `warn` or `allow`.
    package var webViews = ""
    /// `ES256` or `RS256`.
    package var idTokenAlgorithm = ""
    /// `public` or `pairwise`.
    package var subjectType = ""
    /// The names of the scopes that are approved for a service's requests without a user.
    package var machineScopes: [String] = []

    /// Creates a draft from a policy, to edit it.
    package init(_ policy: ClientPolicy) {
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

/// A field of a client's registration or policy; the raw value is its name in forms and in JSON.
package enum ClientField: String, Sendable, Hashable, CaseIterable {
    /// The form as a whole.
    case whole = "form"
    /// The client type.
    case type
    /// `client_name`.
    case name
    /// The publisher.
    case publisher
    /// The redirect URIs.
    case redirectURIs = "redirect_uris"
    /// The scopes that it may request.
    case scopes = "scope"
    /// The scopes that a user may decline.
    case optionalScopes = "optional_scope"
    /// The client's text on the consent page.
    case consentText = "consent_text"
    /// The URL of its privacy policy.
    case privacyURI = "policy_uri"
    /// The URL of its terms of service.
    case termsURI = "tos_uri"
    /// The origins of a single-page app.
    case origins
    /// Its apps on Apple's platforms.
    case appleApps = "apple_apps"
    /// Its Android apps.
    case androidApps = "android_apps"
    /// The keys with which it authenticates.
    case keys = "jwks"
    /// The redirect URIs after sign-out.
    case postLogoutRedirectURIs = "post_logout_redirect_uris"
    /// The URL that receives back-channel logout notifications.
    case backchannelLogoutURI = "backchannel_logout_uri"
    /// Its logo.
    case logo
    /// The mark that the client belongs to the owner of the server.
    case firstParty = "first_party"
    /// The mark that an administrator vouches for the publisher.
    case vouchedFor = "vouched_for"
    /// The mark of the administrator that the claimed https redirect URIs are verified.
    case claimedHTTPSVerified = "claimed_https_verified"
    /// The PKCE policy.
    case pkce
    /// The last day of a PKCE exemption.
    case exemptUntil = "exempt_until"
    /// The demand for `state` in each request.
    case requireState = "require_state"
    /// The policy for issuing refresh tokens.
    case refreshTokens = "refresh_tokens"
    /// The rotation of refresh tokens at each use.
    case rotatesRefreshTokens = "rotate_refresh_tokens"
    /// The grace period in which a refresh may be retried.
    case refreshGracePeriod = "refresh_grace_period"
    /// The idle lifetime of its refresh tokens.
    case refreshIdleLifetime = "refresh_idle_lifetime"
    /// The total lifetime of its refresh tokens, however often they are used.
    case refreshLifetime = "refresh_lifetime"
    /// The lifetime of its access tokens.
    case accessTokenLifetime = "access_token_lifetime"
    /// The lifetime of its ID tokens.
    case idTokenLifetime = "id_token_lifetime"
    /// The policy for sign-ins inside a web-view.
    case webViews = "web_views"
    /// The algorithm that signs its ID tokens.
    case idTokenAlgorithm = "id_token_signed_response_alg"
    /// The kind of subject identifier that it gets.
    case subjectType = "subject_type"
    /// The scopes approved for requests without a user.
    case machineScopes = "machine_scope"
}

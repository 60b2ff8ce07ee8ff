package import CounterfoilProtocol
package import CounterfoilStore
import CounterfoilTokens

/// The registration of a client as entered in a form or on the command line, before ``ClientRules`` checks it.
package struct ClientDraft: Sendable, Hashable {
    /// The name of the client, `client_name` (RFC 7591 §2).
    package var name = ""
    /// The name of the publisher; empty for none.
    package var publisher = ""
    /// The redirect URIs, `redirect_uris` (RFC 7591 §2).
    package var redirectURIs: [String] = []
    /// The redirect URIs that may break the rules for private-use schemes (``RedirectURIContext/acceptedURIs``).
    ///
    /// A form cannot set them.
    package var acceptedRedirectURIs: Set<String> = []
    /// The names that may contain a host that is not the client's own, because they are registered.
    private(set) var acceptedNames: Set<String> = []
    /// The names of the scopes that the client may request.
    package var scopes: [String] = []
    /// The names of the scopes in ``scopes`` that a user may decline on the consent page.
    package var optionalScopes: [String] = []
    /// The usernames of the users who can sign in while the client is in development.
    package var testers: [String] = []
    /// A text of the publisher for the consent page, in Markdown; empty for none.
    package var consentText = ""
    /// The URL of the privacy policy, `policy_uri` (RFC 7591 §2); empty for none.
    package var privacyURI = ""
    /// The URL of the terms of service, `tos_uri` (RFC 7591 §2); empty for none.
    package var termsURI = ""
    /// The web origins of a single-page app; if empty, the origins of its redirect URIs are used.
    package var origins: [String] = []
    /// The application identifiers of a native client's apps on Apple's platforms.
    package var appleApps: [String] = []
    /// A native client's Android apps, each as package name, colon and fingerprint of the signing certificate.
    package var androidApps: [String] = []
    /// The public keys with which the client authenticates, `jwks` (RFC 7591 §2), as JSON; empty if it uses secrets.
    package var keys = ""
    /// The redirect URIs after sign-out, `post_logout_redirect_uris` (OpenID Connect RP-Initiated Logout §3.1).
    package var postLogoutRedirectURIs: [String] = []
    /// The URL for logout tokens, `backchannel_logout_uri` (OpenID Connect Back-Channel Logout §2.2); empty for none.
    package var backchannelLogoutURI = ""
    /// The PKCE policy, `s256` or `s256-or-nonce`; empty to keep the policy of the client.
    package var pkce = ""
    /// The algorithm that signs ID tokens, `id_token_signed_response_alg` (OpenID Connect Registration §2); empty to
    /// keep that of the client.
    package var idTokenAlgorithm = ""
    /// Whether ID tokens contain the claims of the scopes `profile` and `email`: `true`, `false`, or empty to keep the
    /// setting of the client.
    package var userClaimsInIDToken = ""

    package init() {}

    /// Creates the draft with which the form of a new client starts.
    package init(startingFor type: ClientType, without reserved: Scope = Scope()) {
        _ = useStandardScopes(for: type, without: reserved)
    }

    /// Selects the standard scopes if no scope is selected: `openid`, `profile` and `email`.
    ///
    /// Every request of a client without scopes ends in `invalid_scope`. A service acts without a user, so these
    /// scopes mean nothing to it.
    ///
    /// - Parameters:
    ///   - type: The type of the client.
    ///   - reserved: The scopes that the developer cannot select.
    /// - Returns: Whether the draft had no scope and got the standard ones.
    package mutating func useStandardScopes(for type: ClientType, without reserved: Scope = Scope()) -> Bool {
        guard scopes.isEmpty, type != .service else { return false }
        scopes = Scope([.openID, .profile, .email]).subtracting(reserved).tokens.map(\.rawValue)
        return !scopes.isEmpty
    }

    /// Creates a draft from a registered client, to edit it.
    package init(_ client: RegisteredClient) {
        name = client.presentation.name
        publisher = client.presentation.publisher ?? ""
        redirectURIs = client.redirectURIs.map(\.rawValue)
        accept(registrationOf: client)
        scopes = client.scope.tokens.map(\.rawValue)
        optionalScopes = client.optionalScope.tokens.map(\.rawValue)
        testers = client.testers.map(\.rawValue)
        consentText = client.presentation.consentText ?? ""
        privacyURI = client.presentation.privacyURI?.rawValue ?? ""
        termsURI = client.presentation.termsURI?.rawValue ?? ""
        // Origins that follow from the redirect URIs also follow when the redirect URIs change.
        let derived = [RegisteredOrigin](of: client.redirectURIs)
        origins = client.origins == derived ? [] : client.origins.map(\.rawValue)
        appleApps = client.appleApps.map(\.rawValue)
        androidApps = client.androidApps.map(\.description)
        keys = client.keys.map { String(decoding: $0.encoded(), as: UTF8.self) } ?? ""
        postLogoutRedirectURIs = client.postLogoutRedirectURIs.map(\.rawValue)
        backchannelLogoutURI = client.backchannelLogoutURI?.rawValue ?? ""
        pkce = client.policy.pkce.isException ? "" : client.policy.pkce.description
        idTokenAlgorithm = client.policy.idTokenAlgorithm.rawValue
        userClaimsInIDToken = String(client.policy.putsUserClaimsInIDToken)
    }

    /// Accepts the redirect URIs and the names that are registered for a client.
    ///
    /// A change of something else is then not refused for a URI that an administrator has accepted, or whose scheme the
    /// operator does not allow any more, nor for a name that was registered before the rule for hosts.
    package mutating func accept(registrationOf client: RegisteredClient) {
        acceptedRedirectURIs.formUnion((client.redirectURIs + client.postLogoutRedirectURIs).map(\.rawValue))
        acceptedNames.formUnion(NamedHosts.foreignNames(of: client))
    }
}

/// The policy of a client as an administrator entered it, before ``ClientRules`` checks it.
package struct PolicyDraft: Sendable, Hashable {
    /// Whether the client belongs to the owner of this server, so that users are not asked for consent.
    package var isFirstParty = false
    /// Whether an administrator vouches for the publisher of the client; if not, pages warn users.
    package var isVouchedFor = false
    /// Whether an administrator has verified that the claimed https redirect URIs belong to the client.
    package var isClaimedHTTPSVerified = false
    /// The PKCE policy: `s256`, `s256-or-nonce`, `s256-or-plain`, `optional` or `exempt-until:DATE`.
    package var pkce = ""
    /// Whether an authorization request without `state` is refused.
    package var requiresState = false
    /// Whether the client must push its authorization requests (RFC 9126 §6).
    package var requiresPushedRequests = false
    /// Whether the client gets only access tokens that are bound to a key (RFC 9449 §5.2).
    package var requiresBoundTokens = false
    /// The policy for issuing refresh tokens: `offline-access`, `always` or `never`.
    package var refreshTokens = ""
    /// Whether refresh tokens rotate at each use: `true`, `false`, or empty for the default of the client type.
    package var rotatesRefreshTokens = ""
    /// The period in seconds in which a refresh may be retried; empty for the default of the client type.
    package var refreshGracePeriod = ""
    /// The lifetime of an unused refresh token in seconds; empty for the default of the client type.
    package var refreshIdleLifetime = ""
    /// The total lifetime of a refresh token family in seconds, however often its tokens are used; empty for the
    /// default of the client type.
    package var refreshLifetime = ""
    /// The lifetime of access tokens in seconds; empty for the setting of the server.
    package var accessTokenLifetime = ""
    /// The lifetime of ID tokens in seconds; empty for the setting of the server.
    package var idTokenLifetime = ""
    /// The policy for sign-ins in an embedded web-view: `block`, `warn` or `allow`.
    package var webViews = ""
    /// The weakest sign-in with which the client gets tokens: `password`, `two-factor` or `passkey`.
    package var minimumAuthentication = ""
    /// The algorithm that signs ID tokens: `ES256`, `RS256`, `Ed25519` or `EdDSA`.
    package var idTokenAlgorithm = ""
    /// Whether ID tokens contain the claims of the scopes `profile` and `email`: `true` or `false`.
    package var userClaimsInIDToken = ""
    /// The type of the subject identifiers: `public` or `pairwise` (OpenID Connect Core §8).
    package var subjectType = ""
    /// The names of the scopes that a client of type `service` may request without a user.
    package var machineScopes: [String] = []

    /// Creates a draft from a policy, to edit it.
    package init(_ policy: ClientPolicy) {
        isFirstParty = policy.isFirstParty
        isVouchedFor = policy.isVouchedFor
        isClaimedHTTPSVerified = policy.isClaimedHTTPSVerified
        pkce = policy.pkce.description
        requiresState = policy.requiresState
        requiresPushedRequests = policy.requiresPushedRequests
        requiresBoundTokens = policy.requiresBoundTokens
        refreshTokens = policy.refreshTokens.rawValue
        rotatesRefreshTokens = policy.refreshTokenLife.rotates.map(String.init) ?? ""
        refreshGracePeriod = policy.refreshTokenLife.gracePeriod.map(String.init) ?? ""
        refreshIdleLifetime = policy.refreshTokenLife.idleLifetime.map(String.init) ?? ""
        refreshLifetime = policy.refreshTokenLife.lifetime.map(String.init) ?? ""
        accessTokenLifetime = policy.accessTokenLifetime.map(String.init) ?? ""
        idTokenLifetime = policy.idTokenLifetime.map(String.init) ?? ""
        webViews = policy.webViews.rawValue
        minimumAuthentication = policy.minimumAuthentication.rawValue
        idTokenAlgorithm = policy.idTokenAlgorithm.rawValue
        userClaimsInIDToken = String(policy.putsUserClaimsInIDToken)
        subjectType = policy.subjectType.rawValue
        machineScopes = policy.machineScope.tokens.map(\.rawValue)
    }
}

/// A field of a client's registration or policy; the raw value is its name in forms and in JSON.
///
/// The value of each field is described at the property of the same name in ``ClientDraft`` or ``PolicyDraft``.
package enum ClientField: String, Sendable, Hashable, CaseIterable {
    /// No single field: the error concerns the form as a whole.
    case whole = "form"
    case type
    case name
    case publisher
    case redirectURIs = "redirect_uris"
    case scopes = "scope"
    case optionalScopes = "optional_scope"
    case testers
    case consentText = "consent_text"
    case privacyURI = "policy_uri"
    case termsURI = "tos_uri"
    case origins
    case appleApps = "apple_apps"
    case androidApps = "android_apps"
    case keys = "jwks"
    case postLogoutRedirectURIs = "post_logout_redirect_uris"
    case backchannelLogoutURI = "backchannel_logout_uri"
    case logo
    case firstParty = "first_party"
    case vouchedFor = "vouched_for"
    case claimedHTTPSVerified = "claimed_https_verified"
    case pkce
    /// The last day of an exemption from PKCE, which ``PolicyDraft/pkce`` contains after `exempt-until:`.
    case exemptUntil = "exempt_until"
    case requireState = "require_state"
    case requirePushedRequests = "require_pushed_authorization_requests"
    case requireBoundTokens = "dpop_bound_access_tokens"
    case refreshTokens = "refresh_tokens"
    case rotatesRefreshTokens = "rotate_refresh_tokens"
    case refreshGracePeriod = "refresh_grace_period"
    case refreshIdleLifetime = "refresh_idle_lifetime"
    case refreshLifetime = "refresh_lifetime"
    case accessTokenLifetime = "access_token_lifetime"
    case idTokenLifetime = "id_token_lifetime"
    case webViews = "web_views"
    case minimumAuthentication = "minimum_authentication"
    case idTokenAlgorithm = "id_token_signed_response_alg"
    case userClaimsInIDToken = "user_claims_in_id_token"
    case subjectType = "subject_type"
    case machineScopes = "machine_scope"
}

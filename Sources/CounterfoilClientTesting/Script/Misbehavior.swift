/// A named deviation of an authorization server from the standards or from common behaviour.
///
/// Each case changes a few properties of a ``ServerScript``, and one script can combine several cases. The
/// properties of the script allow finer control.
public enum Misbehavior: String, Sendable, Hashable, Codable, CaseIterable {
    // Refresh tokens.
    /// The server issues no refresh tokens.
    case givesNoRefreshToken = "gives-no-refresh-token"
    /// A refresh returns no refresh token, and the old one stays valid.
    case omitsRefreshToken = "omits-refresh-token"
    /// Each refresh returns a new refresh token; a retry with the old one returns the same new token again.
    case rotatesLeniently = "rotates-leniently"
    /// Each refresh returns a new refresh token, and the old one is rejected.
    case rotates
    /// Each refresh returns a new refresh token; reuse of the old one revokes the whole token family.
    case rotatesStrictly = "rotates-strictly"
    /// The first refresh succeeds but its response is lost; a retry with the old refresh token
    /// returns the same new token.
    case rotatesAndDropsTheReply = "rotates-and-drops-the-reply"
    /// The first refresh succeeds but its response is lost; reuse of the old refresh token revokes the
    /// whole token family.
    case rotatesStrictlyAndDropsTheReply = "rotates-strictly-and-drops-the-reply"
    /// Every refresh fails with `invalid_grant`.
    case refusesRefresh = "refuses-refresh"

    // Token responses.
    /// Error responses have status 200.
    case refusesWithStatus200 = "refuses-with-status-200"
    /// Error responses have status 200 and `"ok":false`; successful responses have `"ok":true`.
    case wrapsInOK = "wraps-in-ok"
    /// The members of the token response are nested in an object `authed_user`.
    case nestsTokens = "nests-tokens"
    /// `expires_in` is a string, such as `"3600"`.
    case expiresInText = "expires-in-text"
    /// `expires_in` is in milliseconds, and `expires_in_sec` in seconds.
    case expiresInMilliseconds = "expires-in-milliseconds"
    /// `expires_in` is negative.
    case expiresInNegative = "expires-in-negative"
    /// `expires_in` is 1e30.
    case expiresInHuge = "expires-in-huge"
    /// `expires_in` is missing.
    case expiresInAbsent = "expires-in-absent"
    /// `token_type` is `bearer`.
    case lowerCaseBearer = "lower-case-bearer"
    /// `token_type` is `mac`.
    case macTokens = "mac-tokens"
    /// Commas separate the scope values.
    case commaSeparatedScope = "comma-separated-scope"
    /// The token response is form-encoded instead of JSON.
    case formEncodedTokens = "form-encoded-tokens"
    /// The token response is an HTML page.
    case htmlTokens = "html-tokens"
    /// The token response is 50 million bytes long.
    case hugeTokens = "huge-tokens"
    /// The token response never ends: the server sends one space every 20 ms.
    case endlessTokens = "endless-tokens"
    /// The token response contains every member twice.
    case doubledTokens = "doubled-tokens"
    /// The token response contains an additional member with arrays that are nested 10 000 levels deep.
    case deepTokens = "deep-tokens"

    // Redirects, overload and clock skew.
    /// The token endpoint redirects permanently (301) to another host.
    case redirectsTokenRequests = "redirects-token-requests"
    /// The token endpoint redirects temporarily (302) to another host.
    case redirectsTokenRequestsForNow = "redirects-token-requests-for-now"
    /// The first token request fails with status 429 and `Retry-After: 1` (one second).
    case tooManyRequestsOnce = "too-many-requests-once"
    /// The first token request fails with status 503 and `Retry-After: 1` (one second).
    case unavailableOnce = "unavailable-once"
    /// The first token request fails with status 503 and a date in the past in `Retry-After`.
    case unavailableUntilADate = "unavailable-until-a-date"
    /// The clock of the server is 15 minutes fast.
    case clockAhead = "clock-ahead"
    /// The clock of the server is 15 minutes slow.
    case clockBehind = "clock-behind"

    // Metadata.
    /// The issuer ends with a slash.
    case trailingSlashIssuer = "trailing-slash-issuer"
    /// The issuer contains the template `{tenantid}`, as that of Microsoft Entra for all tenants.
    case templateIssuer = "template-issuer"
    /// `issuer` in the metadata is the issuer of another server.
    case foreignIssuer = "foreign-issuer"
    /// `code_challenge_methods_supported` is missing.
    case hidesPKCE = "hides-pkce"
    /// `code_challenge_methods_supported` is `["plain"]`.
    case plainPKCE = "plain-pkce"
    /// Every well-known URL of the server metadata returns status 404.
    case noMetadata = "no-metadata"
    /// The metadata document is an HTML page.
    case htmlMetadata = "html-metadata"
    /// The metadata document contains every member twice.
    case doubledMetadata = "doubled-metadata"
    /// The metadata document contains an additional member with arrays that are nested 10 000 levels deep.
    case deepMetadata = "deep-metadata"
    /// `authorization_endpoint` is a `javascript:` URL.
    case scriptAuthorizationEndpoint = "script-authorization-endpoint"
    /// `authorization_endpoint` is a `file:` URL.
    case fileAuthorizationEndpoint = "file-authorization-endpoint"
    /// `authorization_endpoint` is an http URL on another host.
    case insecureAuthorizationEndpoint = "insecure-authorization-endpoint"
    /// `authorization_endpoint` starts with `--`, like a command-line option.
    case optionAuthorizationEndpoint = "option-authorization-endpoint"
    /// `token_endpoint` is an http URL on another host.
    case insecureTokenEndpoint = "insecure-token-endpoint"

    // The authorization response.
    /// `iss` is missing, although the metadata announce the parameter.
    case omitsIssuer = "omits-issuer"
    /// `iss` is the issuer of another server.
    case wrongIssuer = "wrong-issuer"
    /// `state` belongs to an earlier request.
    case staleState = "stale-state"
    /// `state` is missing, although the authorization request contains it.
    case omitsState = "omits-state"
    /// The response contains `state` twice, with different values.
    case twoStates = "two-states"
    /// The response contains `code` twice, with different authorization codes.
    case twoCodes = "two-codes"
    /// The response contains an authorization code and the error `access_denied`.
    case codeAndError = "code-and-error"
    /// The user denies access (`access_denied`).
    case deniesAccess = "denies-access"
    /// The user denies access, and `state` belongs to an earlier request.
    case staleError = "stale-error"
    /// The authorization endpoint shows an error page with status 403 and does not redirect.
    case strandsTheUser = "strands-the-person"
    /// Only the second server of the run can redeem the code; `accounts-server` in the response is its URL.
    case otherAccountsServer = "other-accounts-server"
    /// `accounts-server`, in which Zoho returns the URL of the user's data centre, names an unknown host.
    case evilAccountsServer = "evil-accounts-server"

    // Device sign-in.
    /// The user approves after two polls.
    case authorizationPending = "authorization-pending"
    /// The server answers three polls with `slow_down`.
    case slowsDown = "slows-down"
    /// The server answers one poll with `slow_down` and status 429.
    case slowsDownWith429 = "slows-down-with-429"
    /// The first poll fails with Zoho's error `other_dc`, because the user's account is at the second server.
    case otherDataCentre = "other-data-centre"
    /// The device authorization response contains the verification URI as `verification_url`.
    case verificationURL = "verification-url"
    /// The device authorization response has no `interval`.
    case noInterval = "no-interval"

    // ID tokens, keys and UserInfo.
    /// The server issues no ID token, even if the client requests the scope `openid`.
    case omitsIDToken = "omits-id-token"
    /// `iss` of the ID token is the issuer of another server.
    case idTokenWrongIssuer = "id-token-wrong-issuer"
    /// `aud` of the ID token is another client.
    case idTokenWrongAudience = "id-token-wrong-audience"
    /// `aud` of the ID token contains a second client.
    case idTokenTwoAudiences = "id-token-two-audiences"
    /// `nonce` of the ID token is wrong.
    case idTokenWrongNonce = "id-token-wrong-nonce"
    /// The ID token has no `nonce`, although the authorization request contains one.
    case idTokenNoNonce = "id-token-no-nonce"
    /// The ID token expired an hour ago.
    case idTokenExpired = "id-token-expired"
    /// The ID token has no `sub`, which OpenID Connect Core §2 requires.
    case idTokenNoSubject = "id-token-no-subject"
    /// The ID token has no `iat`, which OpenID Connect Core §2 requires.
    case idTokenNoIssueTime = "id-token-no-issue-time"
    /// The ID token has no `aud`, which OpenID Connect Core §2 requires.
    case idTokenNoAudience = "id-token-no-audience"
    /// The ID token is unsigned, with `alg` `none`.
    case idTokenUnsigned = "id-token-unsigned"
    /// The ID token is signed with the client secret, with `alg` `HS256`.
    case idTokenHS256 = "id-token-hs256"
    /// The signature of the ID token is invalid.
    case idTokenBrokenSignature = "id-token-broken-signature"
    /// The ID token is signed with a key that the server does not publish.
    case idTokenUnknownKey = "id-token-unknown-key"
    /// The ID token of a refresh has another `sub` than the ID token of the sign-in.
    case refreshedIDTokenOtherSubject = "refreshed-id-token-other-subject"
    /// The server replaces its signing key before it signs each ID token.
    case rotatesKeys = "rotates-keys"
    /// The first key set response contains an unused key instead of the signing key, as from a stale cache.
    case staleKeys = "stale-keys"
    /// The key set contains 10 000 unused keys before the signing key.
    case tenThousandKeys = "ten-thousand-keys"
    /// The UserInfo response has another `sub` than the ID token.
    case userInfoOtherSubject = "user-info-other-subject"
    /// The UserInfo response has no `sub`, which OpenID Connect Core §5.3.2 requires.
    case userInfoNoSubject = "user-info-no-subject"
    /// The UserInfo response is a signed JWT (`application/jwt`) instead of JSON.
    case signedUserInfo = "signed-user-info"

    // DPoP, pushed requests and registration.
    /// DPoP proofs are required, each with the nonce that the server returned last (RFC 9449 §8).
    case requiresDPoP = "requires-dpop"
    /// Every DPoP proof is rejected with `invalid_dpop_proof`.
    case refusesProofs = "refuses-proofs"
    /// DPoP proofs are ignored, and the tokens are bearer tokens, although the metadata announce DPoP.
    case ignoresProofs = "ignores-proofs"
    /// An authorization request that was not pushed is rejected (RFC 9126 §4).
    case requiresPushedRequests = "requires-pushed-requests"
    /// The server has no pushed authorization request endpoint (RFC 9126).
    case noPushedRequests = "no-pushed-requests"
    /// Every registration fails with `invalid_redirect_uri`.
    case refusesRegistration = "refuses-registration"
    /// Registration returns more redirect URIs, grant types and scopes than requested.
    case widensRegistration = "widens-registration"

    // The API.
    /// One `WWW-Authenticate` field contains several challenges.
    case manyChallenges = "many-challenges"
    /// The challenges are malformed, for example with a quoted string that does not end.
    case brokenChallenge = "broken-challenge"
    /// The API requires the scope `photos.write`.
    case wantsMoreScope = "wants-more-scope"
    /// The API requires step-up authentication (RFC 9470).
    case wantsStrongerSignIn = "wants-stronger-sign-in"
    /// `error` in an error response of the API is a JSON object with `code` and `message`.
    case nestedErrors = "nested-errors"
    /// The API redirects every request to another host (302).
    case redirectsAPI = "redirects-api"
    /// The API and the UserInfo endpoint ignore `Authorization`, as if a proxy had removed it.
    case losesAuthorization = "loses-authorization"
    /// `resource_metadata` in the challenge of the API is a URL with a link-local address.
    case evilResourceMetadata = "evil-resource-metadata"
    /// `resource` in the resource metadata is the identifier of another API.
    case foreignResource = "foreign-resource"
}

extension ServerScript {
    /// Every misbehaviour with a script that contains only this deviation, for parameterized tests.
    public static var matrix: [(misbehavior: Misbehavior, script: ServerScript)] {
        Misbehavior.allCases.map { ($0, ServerScript($0)) }
    }
}

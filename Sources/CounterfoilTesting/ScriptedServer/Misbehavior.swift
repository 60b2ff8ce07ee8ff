/// A way in which servers go wrong, or are unlike others, by name.
///
/// Each changes a few things of a ``ServerScript``; several make one script together. The fields of the script say more
/// finely what these say in a word.
public enum Misbehavior: String, Sendable, Hashable, Codable, CaseIterable {
    // Refresh tokens.
    /// There are no refresh tokens.
    case givesNoRefreshToken = "gives-no-refresh-token"
    /// A refresh answers without a refresh token: the old one stays.
    case omitsRefreshToken = "omits-refresh-token"
    /// Each refresh gives a new refresh token, and the old one gives the same again.
    case rotatesLeniently = "rotates-leniently"
    /// Each refresh gives a new refresh token, and the old one is refused.
    case rotates
    /// Each refresh gives a new refresh token; the old one, used again, ends everything.
    case rotatesStrictly = "rotates-strictly"
    /// The first refresh takes effect and its answer is lost; the old refresh token gives the same again.
    case rotatesAndDropsTheReply = "rotates-and-drops-the-reply"
    /// The first refresh takes effect and its answer is lost; the old refresh token, used again, ends everything.
    case rotatesStrictlyAndDropsTheReply = "rotates-strictly-and-drops-the-reply"
    /// A refresh is refused with `invalid_grant`.
    case refusesRefresh = "refuses-refresh"

    // How tokens look.
    /// Refusals have the status 200.
    case refusesWithStatus200 = "refuses-with-status-200"
    /// Refusals have the status 200 and `"ok":false`, successes `"ok":true`.
    case wrapsInOK = "wraps-in-ok"
    /// Tokens stand under `authed_user`.
    case nestsTokens = "nests-tokens"
    /// `expires_in` is a text.
    case expiresInText = "expires-in-text"
    /// `expires_in` is in milliseconds, and `expires_in_sec` in seconds.
    case expiresInMilliseconds = "expires-in-milliseconds"
    /// `expires_in` is below zero.
    case expiresInNegative = "expires-in-negative"
    /// `expires_in` is 1e30.
    case expiresInHuge = "expires-in-huge"
    /// There is no `expires_in`.
    case expiresInAbsent = "expires-in-absent"
    /// `token_type` is `bearer`.
    case lowerCaseBearer = "lower-case-bearer"
    /// `token_type` is `mac`.
    case macTokens = "mac-tokens"
    /// Commas stand between the names of a scope.
    case commaSeparatedScope = "comma-separated-scope"
    /// The answer of the token endpoint is a form.
    case formEncodedTokens = "form-encoded-tokens"
    /// The answer of the token endpoint is a page.
    case htmlTokens = "html-tokens"
    /// The answer of the token endpoint has 50 million bytes.
    case hugeTokens = "huge-tokens"
    /// The answer of the token endpoint never ends.
    case endlessTokens = "endless-tokens"
    /// The answer of the token endpoint names every member twice.
    case doubledTokens = "doubled-tokens"
    /// The answer of the token endpoint holds ten thousand lists inside each other.
    case deepTokens = "deep-tokens"

    // Trouble.
    /// The token endpoint redirects for good, to another host.
    case redirectsTokenRequests = "redirects-token-requests"
    /// The token endpoint redirects for now, to another host.
    case redirectsTokenRequestsForNow = "redirects-token-requests-for-now"
    /// The first token request gets 429 and seconds to wait.
    case tooManyRequestsOnce = "too-many-requests-once"
    /// The first token request gets 503 and seconds to wait.
    case unavailableOnce = "unavailable-once"
    /// The first token request gets 503 and a date to wait for, long past.
    case unavailableUntilADate = "unavailable-until-a-date"
    /// The clock is a quarter of an hour ahead.
    case clockAhead = "clock-ahead"
    /// The clock is a quarter of an hour behind.
    case clockBehind = "clock-behind"

    // Metadata.
    /// The issuer ends with a slash.
    case trailingSlashIssuer = "trailing-slash-issuer"
    /// The issuer holds `{tenantid}`.
    case templateIssuer = "template-issuer"
    /// The issuer is another server's.
    case foreignIssuer = "foreign-issuer"
    /// `code_challenge_methods_supported` is missing.
    case hidesPKCE = "hides-pkce"
    /// `code_challenge_methods_supported` is `["plain"]`.
    case plainPKCE = "plain-pkce"
    /// There are no metadata.
    case noMetadata = "no-metadata"
    /// The metadata are a page.
    case htmlMetadata = "html-metadata"
    /// The metadata name every member twice.
    case doubledMetadata = "doubled-metadata"
    /// The metadata hold ten thousand lists inside each other.
    case deepMetadata = "deep-metadata"
    /// `authorization_endpoint` is a script.
    case scriptAuthorizationEndpoint = "script-authorization-endpoint"
    /// `authorization_endpoint` is a file.
    case fileAuthorizationEndpoint = "file-authorization-endpoint"
    /// `authorization_endpoint` is http on another host.
    case insecureAuthorizationEndpoint = "insecure-authorization-endpoint"
    /// `authorization_endpoint` begins like an option of a program.
    case optionAuthorizationEndpoint = "option-authorization-endpoint"
    /// `token_endpoint` is http on another host.
    case insecureTokenEndpoint = "insecure-token-endpoint"

    // The answer in the browser.
    /// `iss` is missing, though the metadata say that it comes.
    case omitsIssuer = "omits-issuer"
    /// `iss` is another server's.
    case wrongIssuer = "wrong-issuer"
    /// `state` is one of long ago.
    case staleState = "stale-state"
    /// `state` is missing.
    case omitsState = "omits-state"
    /// There are two `state`.
    case twoStates = "two-states"
    /// There are two codes.
    case twoCodes = "two-codes"
    /// There is a code and an error.
    case codeAndError = "code-and-error"
    /// The person refuses.
    case deniesAccess = "denies-access"
    /// The person's refusal comes with the `state` of long ago.
    case staleError = "stale-error"
    /// The authorization endpoint shows a page and sends nobody back.
    case strandsThePerson = "strands-the-person"
    /// The code belongs to the server beside this one, which the answer names in `accounts-server`.
    case otherAccountsServer = "other-accounts-server"
    /// The answer names an `accounts-server` that is nobody's.
    case evilAccountsServer = "evil-accounts-server"

    // Devices.
    /// The person takes two polls.
    case authorizationPending = "authorization-pending"
    /// Three polls are answered with `slow_down`.
    case slowsDown = "slows-down"
    /// A poll is answered with `slow_down` and the status 429.
    case slowsDownWith429 = "slows-down-with-429"
    /// The person's account is at the server beside this one.
    case otherDataCentre = "other-data-centre"
    /// The address for the person is called `verification_url`.
    case verificationURL = "verification-url"
    /// The answer to a device has no `interval`.
    case noInterval = "no-interval"

    // ID tokens, keys and the person.
    /// There is no ID token.
    case omitsIDToken = "omits-id-token"
    /// `iss` of the ID token is another server's.
    case idTokenWrongIssuer = "id-token-wrong-issuer"
    /// `aud` of the ID token is another client.
    case idTokenWrongAudience = "id-token-wrong-audience"
    /// `aud` of the ID token holds another client too.
    case idTokenTwoAudiences = "id-token-two-audiences"
    /// `nonce` of the ID token is another one.
    case idTokenWrongNonce = "id-token-wrong-nonce"
    /// The ID token has no `nonce`.
    case idTokenNoNonce = "id-token-no-nonce"
    /// The ID token expired an hour ago.
    case idTokenExpired = "id-token-expired"
    /// The ID token has no `sub`.
    case idTokenNoSubject = "id-token-no-subject"
    /// The ID token has no `iat`.
    case idTokenNoIssueTime = "id-token-no-issue-time"
    /// The ID token has no `aud`.
    case idTokenNoAudience = "id-token-no-audience"
    /// The ID token is not signed; its header says `none`.
    case idTokenUnsigned = "id-token-unsigned"
    /// The ID token is signed with the client's secret.
    case idTokenHS256 = "id-token-hs256"
    /// The signature of the ID token is wrong.
    case idTokenBrokenSignature = "id-token-broken-signature"
    /// The key of the ID token is not published.
    case idTokenUnknownKey = "id-token-unknown-key"
    /// The ID token of a refresh is about somebody else.
    case refreshedIDTokenOtherSubject = "refreshed-id-token-other-subject"
    /// The keys are changed just before each signature.
    case rotatesKeys = "rotates-keys"
    /// The first answer with keys is out of date.
    case staleKeys = "stale-keys"
    /// There are ten thousand keys.
    case tenThousandKeys = "ten-thousand-keys"
    /// Userinfo is about somebody else.
    case userInfoOtherSubject = "user-info-other-subject"
    /// Userinfo has no `sub`.
    case userInfoNoSubject = "user-info-no-subject"
    /// Userinfo is signed.
    case signedUserInfo = "signed-user-info"

    // Tighter rules.
    /// Proofs are required, with a nonce that changes with every answer.
    case requiresDPoP = "requires-dpop"
    /// Every proof is refused.
    case refusesProofs = "refuses-proofs"
    /// Proofs are not understood, and tokens stay bearer tokens.
    case ignoresProofs = "ignores-proofs"
    /// The authorization request has to be left beforehand.
    case requiresPushedRequests = "requires-pushed-requests"
    /// No request can be left beforehand: all of it goes through the browser.
    case noPushedRequests = "no-pushed-requests"
    /// Registration is refused.
    case refusesRegistration = "refuses-registration"
    /// Registration gives more than was asked for.
    case widensRegistration = "widens-registration"

    // The API.
    /// The challenge has several schemes in one field.
    case manyChallenges = "many-challenges"
    /// The challenge is not one.
    case brokenChallenge = "broken-challenge"
    /// The API wants a scope that nobody has.
    case wantsMoreScope = "wants-more-scope"
    /// The API wants a stronger sign-in.
    case wantsStrongerSignIn = "wants-stronger-sign-in"
    /// The API's errors are objects.
    case nestedErrors = "nested-errors"
    /// The API redirects elsewhere.
    case redirectsAPI = "redirects-api"
    /// Something on the way takes `Authorization` off.
    case losesAuthorization = "loses-authorization"
    /// The challenge sends for metadata to an address of the device's own network.
    case evilResourceMetadata = "evil-resource-metadata"
    /// The API's metadata are about another API.
    case foreignResource = "foreign-resource"
}

extension ServerScript {
    /// Scripts with one deviation each, for tables of tests.
    public static var matrix: [(misbehavior: Misbehavior, script: ServerScript)] {
        Misbehavior.allCases.map { ($0, ServerScript($0)) }
    }
}

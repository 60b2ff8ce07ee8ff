/// The format of the responses of a scripted token endpoint.
public struct TokenScript: Sendable, Hashable, Codable {
    /// The format of `expires_in`, the lifetime of an access token.
    public enum Lifetime: Sendable, Hashable, Codable {
        /// A number of seconds (RFC 6749 §5.1).
        case seconds
        /// A string with the number of seconds.
        case text
        /// A number of milliseconds; `expires_in_sec` contains the number of seconds.
        case milliseconds
        /// This JSON text, unchanged.
        case raw(String)
        /// No `expires_in`.
        case absent
    }

    /// The `scope` of a response, which may differ from the scope that the server granted.
    public enum GrantedScope: Sendable, Hashable, Codable {
        /// The granted scope.
        case honest
        /// No `scope`.
        case absent
        /// This text instead of the granted scope.
        case replaced(String)
    }

    /// The encoding of the body of a response, whether it contains tokens or an error.
    public enum Encoding: String, Sendable, Hashable, Codable {
        /// JSON (RFC 6749 §5.1).
        case json
        /// Form encoding (`application/x-www-form-urlencoded`), whatever the client accepts.
        case form
        /// Form encoding, unless the `Accept` field of the request contains `json`.
        case formUnlessJSONIsAccepted = "form-unless-json-is-accepted"
    }

    /// The format of access tokens; the API accepts tokens of either format.
    public enum Format: String, Sendable, Hashable, Codable {
        /// A random string.
        case opaque
        /// A JWT (RFC 9068).
        case jwt
    }

    /// The number of seconds for which the API accepts an access token.
    public var lifetime = 3600
    /// The format of `expires_in`, by default a number of seconds.
    public var expiresIn = Lifetime.seconds
    /// The `token_type` of the response; nil means `Bearer` or, for a DPoP-bound token, `DPoP`.
    public var tokenType: String?
    /// The `scope` of the response, by default the granted scope.
    public var scope = GrantedScope.honest
    /// The separator of the values in the `scope` of the response, a space in RFC 6749 §3.3.
    public var scopeSeparator = " "
    /// The format of access tokens, by default a random string.
    public var format = Format.opaque
    /// The encoding of the response, by default JSON.
    public var encoding = Encoding.json
    /// The name of an object into which all members of a token response except `ok` are moved; nil moves none.
    public var nesting: String?
    /// Whether a successful response contains `"ok":true`.
    public var saysOK = false
    /// Members that replace members of the same name in the response, or are added to it.
    public var extras: [WireMember] = []
    /// The names of members that are omitted from the response.
    public var omitted: [String] = []

    /// Creates a script for token responses that follow RFC 6749.
    public init() {}
}

/// The error responses of a scripted server.
public struct ErrorScript: Sendable, Hashable, Codable {
    /// Whether errors have status 200 at the token, device authorization, PAR and revocation endpoints.
    public var statusIsAlways200 = false
    /// The error codes that replace standard error codes, keyed by the standard code.
    public var codes: [String: String] = [:]
    /// Whether an error response contains `"ok":false`.
    public var saysNotOK = false
    /// Whether `error` in API responses is an object with `code` and `message`.
    public var isNestedAtAPI = false

    /// Creates a script for error responses that follow RFC 6749.
    public init() {}
}

/// Issuing and rotation of refresh tokens.
public struct RefreshTokenScript: Sendable, Hashable, Codable {
    /// The condition for issuing a refresh token.
    public enum Issue: Sendable, Hashable, Codable {
        /// Every grant gets a refresh token.
        case always
        /// No grant gets a refresh token.
        case never
        /// A grant gets a refresh token if its scope contains one of these values.
        case withScope([String])
        /// A grant gets a refresh token if its scope contains `offline_access` and the request has `prompt=consent`.
        ///
        /// Without `prompt=consent`, the server does not grant `offline_access` (OpenID Connect Core §11).
        case withConsentPrompt
        /// A grant gets a refresh token only if the client authenticates with a secret or a key.
        case toAuthenticatedClients
        /// A grant gets a refresh token under conditions that depend on the authorization request.
        ///
        /// The request must have `access_type=offline`. In addition, it must have `prompt=consent`, or the
        /// client must not have received a refresh token before.
        case withOfflineAccessType
    }

    /// The effect of a refresh on the refresh token.
    public enum Rotation: Sendable, Hashable, Codable {
        /// The old refresh token stays valid, and the response contains no refresh token.
        case never
        /// The old refresh token stays valid, and the response contains it again.
        case repeated
        /// The response contains a new refresh token; the associated value determines the
        /// effect of reuse of the old one.
        case rotated(Old)
    }

    /// The effect of presenting a refresh token that was already used.
    public enum Old: String, Sendable, Hashable, Codable {
        /// The request succeeds, and returns the same new refresh token as the first use.
        case answersAgain = "answers-again"
        /// The request fails with `invalid_grant`; no token is revoked.
        case isRefused = "is-refused"
        /// The request fails with `invalid_grant`, and the server revokes every token of the
        /// grant (RFC 9700 §4.14.2).
        case revokesAll = "revokes-all"
    }

    /// The condition for issuing a refresh token; by default, every grant gets one.
    public var issue = Issue.always
    /// The effect of a refresh on the refresh token, by default rotation with detection of reuse.
    public var rotation = Rotation.rotated(.revokesAll)
    /// Whether a refresh request that contains `scope` fails with `invalid_scope`.
    public var refusesScope = false
    /// Whether a refresh issues an access token for the whole grant, whatever `scope` and `resource` the request has.
    public var ignoresTarget = false

    /// Creates a script that issues a refresh token for every grant, with rotation and reuse detection.
    public init() {}
}

/// An OAuth error response.
///
/// The parameters `error` and `error_description`, RFC 6749 §4.1.2.1 and §5.2. ``reason`` is for the log only
/// and is never sent.
public struct OAuthError: Error, Hashable, Sendable {
    /// A value of `error`, which can also be one that this package does not define.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The value of `error` as it is sent, for example `invalid_grant`.
        public let rawValue: String

        /// Creates a code from any value, without validation.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The value as it is sent; equal to ``rawValue``.
        public var description: String { rawValue }
    }

    /// The kind of the error, from which a client decides how to continue (parameter `error`).
    public let code: Code
    /// A message for the client developer (parameter `error_description`).
    ///
    /// Characters outside `%x20-21 / %x23-5B / %x5D-7E` are replaced with `'` or `?`.
    public let description: String?
    /// An explanation for the log, never sent to the client.
    public let reason: String

    /// Creates an error; `reason` defaults to the description, or to the code if there is no description.
    public init(_ code: Code, _ description: String? = nil, reason: String? = nil) {
        self.code = code
        self.description = description.map(Self.onlyAllowedCharacters)
        self.reason = reason ?? description ?? code.rawValue
    }

    /// Replaces the bytes that `error_description` must not contain (RFC 6749 §4.1.2.1 and §5.2).
    private static func onlyAllowedCharacters(_ text: String) -> String {
        String(
            decoding: text.utf8.map { byte in
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "'")
                case 0x20...0x7E: byte
                default: UInt8(ascii: "?")
                }
            },
            as: UTF8.self
        )
    }
}

extension OAuthError.Code {
    /// `invalid_request`: a parameter is missing, repeated or malformed (RFC 6749 §4.1.2.1, §5.2).
    public static let invalidRequest = Self(rawValue: "invalid_request")
    /// `invalid_client`: client authentication failed, or the client is unknown (RFC 6749 §5.2).
    public static let invalidClient = Self(rawValue: "invalid_client")
    /// `invalid_grant`: the code or refresh token is invalid, expired, revoked or of another client (RFC 6749 §5.2).
    public static let invalidGrant = Self(rawValue: "invalid_grant")
    /// `unauthorized_client`: the client may not use this response type or grant type (RFC 6749 §4.1.2.1, §5.2).
    public static let unauthorizedClient = Self(rawValue: "unauthorized_client")
    /// `unsupported_grant_type`: the server does not support the grant type (RFC 6749 §5.2).
    public static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
    /// `unsupported_response_type`: the server does not support the response type (RFC 6749 §4.1.2.1).
    public static let unsupportedResponseType = Self(rawValue: "unsupported_response_type")
    /// `invalid_scope`: the scope is unknown, malformed or not allowed (RFC 6749 §4.1.2.1, §5.2).
    public static let invalidScope = Self(rawValue: "invalid_scope")
    /// `access_denied`: the user or the server denied the request (RFC 6749 §4.1.2.1).
    public static let accessDenied = Self(rawValue: "access_denied")
    /// `server_error`: the server failed unexpectedly (RFC 6749 §4.1.2.1).
    public static let serverError = Self(rawValue: "server_error")
    /// `temporarily_unavailable`: the server cannot handle the request now, but possibly later (RFC 6749 §4.1.2.1).
    public static let temporarilyUnavailable = Self(rawValue: "temporarily_unavailable")
    /// `login_required`: the user must sign in, but the request has `prompt=none` (OpenID Connect Core §3.1.2.6).
    public static let loginRequired = Self(rawValue: "login_required")
    /// `consent_required`: the user must consent, but the request has `prompt=none` (OpenID Connect Core §3.1.2.6).
    public static let consentRequired = Self(rawValue: "consent_required")
    /// `interaction_required`: the user must act, but the request has `prompt=none` (OpenID Connect Core §3.1.2.6).
    public static let interactionRequired = Self(rawValue: "interaction_required")
    /// `unmet_authentication_requirements`: the server cannot authenticate the user as the request requires
    /// (OpenID Connect Core Error Code unmet_authentication_requirements §2, RFC 9470 §5).
    public static let unmetAuthenticationRequirements = Self(rawValue: "unmet_authentication_requirements")
    /// `insufficient_user_authentication`: the API requires a stronger or more recent sign-in (RFC 9470 §3).
    public static let insufficientUserAuthentication = Self(rawValue: "insufficient_user_authentication")
    /// `request_not_supported`: the server does not support the parameter `request` (OpenID Connect Core §3.1.2.6).
    public static let requestNotSupported = Self(rawValue: "request_not_supported")
    /// `request_uri_not_supported`: the server does not support `request_uri` (OpenID Connect Core §3.1.2.6).
    public static let requestURINotSupported = Self(rawValue: "request_uri_not_supported")
    /// `registration_not_supported`: the server does not support `registration` (OpenID Connect Core §3.1.2.6).
    public static let registrationNotSupported = Self(rawValue: "registration_not_supported")
    /// `invalid_target`: a `resource` is malformed, unknown or not allowed (RFC 8707 §2).
    public static let invalidTarget = Self(rawValue: "invalid_target")
    /// `unsupported_token_type`: the server cannot revoke tokens of this type (RFC 7009 §2.2.1).
    public static let unsupportedTokenType = Self(rawValue: "unsupported_token_type")
    /// `invalid_token`: the access token is malformed, expired, revoked or otherwise invalid (RFC 6750 §3.1).
    public static let invalidToken = Self(rawValue: "invalid_token")
    /// `insufficient_scope`: the request requires a scope that the access token does not have (RFC 6750 §3.1).
    public static let insufficientScope = Self(rawValue: "insufficient_scope")
    /// `invalid_request_uri`: the `request_uri` is unknown, used, expired or of another client (RFC 9101 §7).
    public static let invalidRequestURI = Self(rawValue: "invalid_request_uri")
    /// `authorization_pending`: the user has not answered the device authorization yet (RFC 8628 §3.5).
    public static let authorizationPending = Self(rawValue: "authorization_pending")
    /// `slow_down`: the client polls too often, and must wait 5 seconds longer from now on (RFC 8628 §3.5).
    public static let slowDown = Self(rawValue: "slow_down")
    /// `expired_token`: the `device_code` has expired (RFC 8628 §3.5).
    public static let expiredToken = Self(rawValue: "expired_token")
    /// `invalid_dpop_proof`: the DPoP proof is missing, malformed or not for this request (RFC 9449 §5, §7.1).
    public static let invalidDPoPProof = Self(rawValue: "invalid_dpop_proof")
    /// `use_dpop_nonce`: the DPoP proof must contain a nonce that the server has issued recently (RFC 9449 §8, §9).
    public static let useDPoPNonce = Self(rawValue: "use_dpop_nonce")
}

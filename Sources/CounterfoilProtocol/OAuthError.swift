/// An OAuth error response.
///
/// The parameters `error` and `error_description`, RFC 6749 §4.1.2.1 and §5.2. ``reason`` is for the log only
/// and is never sent.
public struct OAuthError: Error, Hashable, Sendable {
    /// A value of `error`, also of a standard or a server that this package does not know.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The value, as it is sent.
        public let rawValue: String

        /// Creates a code from any value, without validation.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The value, as it is sent.
        public var description: String { rawValue }
    }

    /// `error`.
    public let code: Code
    /// `error_description`, a message for the client developer.
    ///
    /// Characters outside `%x20-21 / %x23-5B / %x5D-7E` are replaced.
    public let description: String?
    /// The reason for the log; never sent.
    public let reason: String

    /// Creates an error.
    ///
    /// If `reason` is nil, the reason is the description, or the code if there is no description.
    public init(_ code: Code, _ description: String? = nil, reason: String? = nil) {
        self.code = code
        self.description = description.map(Self.onlyAllowedCharacters)
        self.reason = reason ?? description ?? code.rawValue
    }

    /// Replaces the characters that `error_description` must not contain (RFC 6749 §4.1.2.1 and §5.2).
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
    /// `invalid_request` (RFC 6749 §4.1.2.1, §5.2).
    public static let invalidRequest = Self(rawValue: "invalid_request")
    /// `invalid_client` (RFC 6749 §5.2).
    public static let invalidClient = Self(rawValue: "invalid_client")
    /// `invalid_grant` (RFC 6749 §5.2).
    public static let invalidGrant = Self(rawValue: "invalid_grant")
    /// `unauthorized_client` (RFC 6749 §4.1.2.1, §5.2).
    public static let unauthorizedClient = Self(rawValue: "unauthorized_client")
    /// `unsupported_grant_type` (RFC 6749 §5.2).
    public static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
    /// `unsupported_response_type` (RFC 6749 §4.1.2.1).
    public static let unsupportedResponseType = Self(rawValue: "unsupported_response_type")
    /// `invalid_scope` (RFC 6749 §4.1.2.1, §5.2).
    public static let invalidScope = Self(rawValue: "invalid_scope")
    /// `access_denied` (RFC 6749 §4.1.2.1).
    public static let accessDenied = Self(rawValue: "access_denied")
    /// `server_error` (RFC 6749 §4.1.2.1).
    public static let serverError = Self(rawValue: "server_error")
    /// `temporarily_unavailable` (RFC 6749 §4.1.2.1).
    public static let temporarilyUnavailable = Self(rawValue: "temporarily_unavailable")
    /// `login_required` (OpenID Connect Core §3.1.2.6).
    public static let loginRequired = Self(rawValue: "login_required")
    /// `consent_required` (OpenID Connect Core §3.1.2.6).
    public static let consentRequired = Self(rawValue: "consent_required")
    /// `interaction_required` (OpenID Connect Core §3.1.2.6).
    public static let interactionRequired = Self(rawValue: "interaction_required")
    /// `unmet_authentication_requirements` (OpenID Connect Core Error Code
    /// unmet_authentication_requirements §2, RFC 9470 §5).
    public static let unmetAuthenticationRequirements = Self(rawValue: "unmet_authentication_requirements")
    /// `insufficient_user_authentication` (RFC 9470 §3).
    public static let insufficientUserAuthentication = Self(rawValue: "insufficient_user_authentication")
    /// `request_not_supported` (OpenID Connect Core §3.1.2.6).
    public static let requestNotSupported = Self(rawValue: "request_not_supported")
    /// `request_uri_not_supported` (OpenID Connect Core §3.1.2.6).
    public static let requestURINotSupported = Self(rawValue: "request_uri_not_supported")
    /// `registration_not_supported` (OpenID Connect Core §3.1.2.6).
    public static let registrationNotSupported = Self(rawValue: "registration_not_supported")
    /// `invalid_target` (RFC 8707 §2).
    public static let invalidTarget = Self(rawValue: "invalid_target")
    /// `unsupported_token_type` (RFC 7009 §2.2.1).
    public static let unsupportedTokenType = Self(rawValue: "unsupported_token_type")
    /// `invalid_token` (RFC 6750 §3.1).
    public static let invalidToken = Self(rawValue: "invalid_token")
    /// `insufficient_scope` (RFC 6750 §3.1).
    public static let insufficientScope = Self(rawValue: "insufficient_scope")
}

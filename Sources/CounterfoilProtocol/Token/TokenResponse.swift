import CounterfoilPlatform

/// A successful response of the token endpoint, in JSON.
///
/// RFC 6749 §5.1, OpenID Connect Core §3.1.3.3.
public struct TokenResponse: Sendable, Hashable {
    /// The issued access token (member `access_token`).
    public let accessToken: AccessToken
    /// `token_type`, unchanged; use ``isBearer`` for a case-insensitive comparison.
    public let tokenType: String
    /// `expires_in`, the lifetime of the access token in seconds, at most ten years; nil if omitted.
    public let expiresIn: Int?
    /// `refresh_token`; nil if none was issued.
    public let refreshToken: RefreshToken?
    /// `scope`, the granted scope; nil if omitted, which means that it equals the requested scope.
    public let scope: Scope?
    /// `id_token`; nil if none was issued, for example because `openid` was not granted.
    public let idToken: IDToken?

    /// Creates a response with the token type Bearer.
    public init(
        accessToken: AccessToken,
        expiresIn: Int?,
        refreshToken: RefreshToken? = nil,
        scope: Scope? = nil,
        idToken: IDToken? = nil
    ) {
        self.accessToken = accessToken
        self.tokenType = "Bearer"
        self.expiresIn = expiresIn
        self.refreshToken = refreshToken
        self.scope = scope
        self.idToken = idToken
    }

    /// Creates a response from the members that a client received, with any `token_type`.
    @_spi(Counterfoil) public init(
        accessToken: AccessToken, tokenType: String, expiresIn: Int?, refreshToken: RefreshToken?, scope: Scope?,
        idToken: IDToken?
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.refreshToken = refreshToken
        self.scope = scope
        self.idToken = idToken
    }

    /// Whether the token type is Bearer, compared case-insensitively (RFC 6749 §5.1).
    public var isBearer: Bool { tokenType.lowercased() == "bearer" }

    /// Parses a JSON response of at most 256 KiB.
    public init(parsing body: some Collection<UInt8>) throws {
        guard body.count <= 256 * 1024 else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "the response is too large"))
        }
        self = try JSONDecoder().decode(TokenResponse.self, from: Data(body))
    }

    /// Encodes the response as a JSON object, without the members that are nil.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 2048)
        writer.object { writer in
            writer.member("access_token", accessToken.exposed)
            writer.member("token_type", tokenType)
            if let expiresIn { writer.member("expires_in", Int64(expiresIn)) }
            if let refreshToken { writer.member("refresh_token", refreshToken.exposed) }
            if let scope { writer.member("scope", scope.description) }
            if let idToken { writer.member("id_token", idToken.exposed) }
        }
        return writer.bytes
    }
}

extension TokenResponse: Decodable {
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
        case scope
        case idToken = "id_token"
    }

    /// Decodes the JSON object of RFC 6749 §5.1.
    ///
    /// `expires_in` may be a number or a string of digits.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func checked<Value>(_ key: CodingKeys, _ make: (String) -> Value?) throws -> Value? {
            guard let text = try values.decodeIfPresent(String.self, forKey: key), !text.isEmpty else { return nil }
            guard let value = make(text) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: "malformed")
            }
            return value
        }
        guard let accessToken = try checked(.accessToken, AccessToken.init) else {
            throw DecodingError.dataCorruptedError(forKey: .accessToken, in: values, debugDescription: "missing")
        }
        self.accessToken = accessToken
        tokenType = try values.decode(String.self, forKey: .tokenType)
        expiresIn = try Self.expiresIn(values)
        refreshToken = try checked(.refreshToken, RefreshToken.init)
        scope = try checked(.scope) { try? Scope(lenient: $0) }
        idToken = try checked(.idToken, IDToken.init)
    }

    private static func expiresIn(_ values: KeyedDecodingContainer<CodingKeys>) throws -> Int? {
        guard values.contains(.expiresIn), try !values.decodeNil(forKey: .expiresIn) else { return nil }
        let seconds =
            try (try? values.decode(Int.self, forKey: .expiresIn))
            ?? Int(values.decode(String.self, forKey: .expiresIn))
        guard let seconds, (0...315_360_000).contains(seconds) else {
            throw DecodingError.dataCorruptedError(
                forKey: .expiresIn, in: values, debugDescription: "not a number of seconds up to ten years")
        }
        return seconds
    }
}

/// The JSON error response of the token endpoint (RFC 6749 §5.2).
public struct TokenErrorResponse: Sendable, Codable, Hashable {
    /// The error code, for example `invalid_grant` (member `error`).
    public let error: String
    /// A message for the client developer (member `error_description`); nil if omitted.
    public let errorDescription: String?

    private enum CodingKeys: String, CodingKey {
        case error
        case errorDescription = "error_description"
    }

    /// Creates the response from an error, without its ``OAuthError/reason``, which is only for the log.
    public init(_ refusal: OAuthError) {
        error = refusal.code.rawValue
        errorDescription = refusal.description
    }

    /// The error of a received response; `error` is truncated to 256 characters, `error_description` to 1024.
    public var refusal: OAuthError {
        OAuthError(.init(rawValue: String(error.prefix(256))), errorDescription.map { String($0.prefix(1024)) })
    }
}

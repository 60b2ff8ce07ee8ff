public import CounterfoilProtocol
import Foundation
public import HTTPTypes

/// The rejection of a request: the status, the challenge and the error of the response.
///
/// RFC 6750 §3. The response contains no part of the token. ``reason``, which is for the log only, may contain
/// the key identifier (`kid`) of the token.
public struct AccessRefusal: Error, Sendable, Hashable {
    /// The HTTP status of the response: 400, 401, 403 or 503.
    public let status: HTTPResponse.Status
    /// The value of `WWW-Authenticate`; nil if another token would not help, as with status 503.
    public let challenge: BearerChallenge?
    /// The error in the response; nil if the request contained no token (RFC 6750 §3.1).
    public let error: OAuthError?
    /// `Retry-After` in seconds; nil if a retry would not help.
    public let retryAfter: Int?

    /// Creates a refusal with status 403 for a valid token whose user may not access the requested object.
    ///
    /// The response has no challenge, because a client reacts to a challenge with a request for another token.
    /// No other token of the same user would help.
    ///
    /// - Parameter description: The `error_description` of the response.
    public static func forbidden(_ description: String) -> AccessRefusal {
        AccessRefusal(status: .forbidden, error: OAuthError(.init(rawValue: "forbidden"), description))
    }

    /// Creates a refusal with status 401 and a challenge without an error code (RFC 6750 §3.1).
    static func noToken(_ challenge: BearerChallenge) -> AccessRefusal {
        AccessRefusal(status: .unauthorized, challenge: challenge)
    }

    /// Creates a refusal with an error: status 400 for `invalid_request`, 403 for `insufficient_scope`, and 401
    /// for every other error (RFC 6750 §3.1, RFC 9470 §3).
    static func refused(_ error: OAuthError, challenge: BearerChallenge) -> AccessRefusal {
        let status: HTTPResponse.Status =
            switch error.code {
            case .invalidRequest: .badRequest
            case .insufficientScope: .forbidden
            default: .unauthorized
            }
        var challenge = challenge
        challenge.error = error
        return AccessRefusal(status: status, challenge: challenge, error: error)
    }

    /// Creates a refusal with status 503, because the keys of the issuer are unavailable.
    ///
    /// The token may be valid. The client must not discard it, so the refusal has no challenge.
    static func keysUnavailable(_ unavailable: KeySetUnavailable) -> AccessRefusal {
        unavailableNow(
            "the keys of the authorization server are unavailable; retry later",
            reason: unavailable.reason, retryAfter: unavailable.retryAfter)
    }

    /// Creates a refusal with status 503, because the introspection request failed.
    ///
    /// The token may be valid. The client must not discard it, so the refusal has no challenge.
    static func statusUnavailable(_ unavailable: IntrospectionCache.Unavailable) -> AccessRefusal {
        unavailableNow(
            "the authorization server cannot confirm at present that the token is active; retry later",
            reason: unavailable.reason, retryAfter: unavailable.retryAfter)
    }

    private static func unavailableNow(_ words: String, reason: String, retryAfter: Int) -> AccessRefusal {
        AccessRefusal(
            status: .serviceUnavailable, error: OAuthError(.temporarilyUnavailable, words, reason: reason),
            retryAfter: retryAfter)
    }

    private init(
        status: HTTPResponse.Status,
        challenge: BearerChallenge? = nil,
        error: OAuthError? = nil,
        retryAfter: Int? = nil
    ) {
        self.status = status
        self.challenge = challenge
        self.error = error
        self.retryAfter = retryAfter
    }

    /// The reason of the refusal, for the log only; it may be more detailed than `error_description`.
    public var reason: String { error?.reason ?? "the request contains no access token" }

    /// The header fields of the response, which include `Cache-Control: no-store`.
    public var headerFields: HTTPFields {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        fields[.wwwAuthenticate] = challenge?.description
        fields[.retryAfter] = retryAfter.map(String.init)
        if !body.isEmpty {
            fields[.contentType] = "application/json"
        }
        return fields
    }

    /// The JSON body of the response; empty if ``error`` is nil.
    public var body: [UInt8] {
        guard let error, let json = try? JSONEncoder().encode(TokenErrorResponse(error)) else { return [] }
        return Array(json)
    }
}

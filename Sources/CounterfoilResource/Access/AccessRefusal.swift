public import CounterfoilProtocol
import Foundation
public import HTTPTypes

/// A rejected request: the status, the challenge and the error of the response.
///
/// RFC 6750 §3. The response contains no part of the token. ``reason`` may contain its key identifier.
public struct AccessRefusal: Error, Sendable, Hashable {
    /// The HTTP status of the response.
    public let status: HTTPResponse.Status
    /// The value of `WWW-Authenticate`; nil if another token would not help.
    public let challenge: BearerChallenge?
    /// The error; nil if the request contained no token (RFC 6750 §3.1).
    public let error: OAuthError?
    /// `Retry-After` in seconds; nil if a retry would not help.
    public let retryAfter: Int?

    /// Creates a 403 response for a valid token of a user who does not own the requested object.
    ///
    /// It has no challenge, because no other token of the same user would help. A client must not request one.
    ///
    /// - Parameter description: The `error_description` of the response.
    public static func forbidden(_ description: String) -> AccessRefusal {
        AccessRefusal(status: .forbidden, error: OAuthError(.init(rawValue: "forbidden"), description))
    }

    /// RFC 6750 §3.1: the response to a request without authentication contains a challenge without an error code.
    static func noToken(_ challenge: BearerChallenge) -> AccessRefusal {
        AccessRefusal(status: .unauthorized, challenge: challenge)
    }

    /// RFC 6750 §3.1: `invalid_request` has status 400, `invalid_token` 401, and `insufficient_scope` 403.
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

    /// Creates a 503 response for unavailable issuer keys.
    ///
    /// The token may be valid, so the client must not discard it.
    static func keysUnavailable(_ unavailable: KeySetUnavailable) -> AccessRefusal {
        unavailableNow(
            "the keys of the authorization server are unavailable; retry later",
            reason: unavailable.reason, retryAfter: unavailable.retryAfter)
    }

    /// Creates a 503 response for a failed introspection.
    ///
    /// The token may be valid, so the client must not discard it.
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

    /// The reason for the log.
    public var reason: String { error?.reason ?? "the request contains no access token" }

    /// The header fields of the response.
    public var headerFields: HTTPFields {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        fields[.wwwAuthenticate] = challenge?.description
        fields[.retryAfter] = retryAfter.map(String.init)
        if !body.isEmpty {
            fields[.contentType] = "application/json"
        }
        return fields
    }

    /// The JSON body of the response; empty if there is no error.
    public var body: [UInt8] {
        guard let error, let json = try? JSONEncoder().encode(TokenErrorResponse(error)) else { return [] }
        return Array(json)
    }
}

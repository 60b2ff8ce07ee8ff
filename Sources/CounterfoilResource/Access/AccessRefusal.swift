public import CounterfoilProtocol
import Foundation
public import HTTPTypes

/// An answer that is no: the status, the challenge and the words.
///
/// RFC 6750 §3. Nothing in it holds the token or a part of it.
public struct AccessRefusal: Error, Sendable, Hashable {
    /// The status of the response.
    public let status: HTTPResponse.Status
    /// The value of `WWW-Authenticate`; nil when another token would not help.
    public let challenge: BearerChallenge?
    /// What went wrong; nil when the request held no token (RFC 6750 §3.1).
    public let error: OAuthError?
    /// `Retry-After` in seconds; nil when waiting would not help.
    public let retryAfter: Int?

    /// The token is good, and what it asks for belongs to somebody else.
    ///
    /// 403 without challenge: no other token for the same person would help, so that no client should go and ask for one.
    public static func forbidden(_ description: String) -> AccessRefusal {
        AccessRefusal(status: .forbidden, error: OAuthError(.init(rawValue: "forbidden"), description))
    }

    /// RFC 6750 §3.1: a request without authentication gets the challenge and no error code.
    static func noToken(_ challenge: BearerChallenge) -> AccessRefusal {
        AccessRefusal(status: .unauthorized, challenge: challenge)
    }

    /// RFC 6750 §3.1: `invalid_request` is 400, `invalid_token` 401, `insufficient_scope` 403.
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

    /// The keys of the issuer cannot be had: that is no fault of the token, which must not be thrown away for it.
    static func keysUnavailable(_ unavailable: KeySetUnavailable) -> AccessRefusal {
        unavailableNow(
            "the keys of the authorization server cannot be had at the moment; try again later",
            reason: unavailable.reason, retryAfter: unavailable.retryAfter)
    }

    /// The issuer does not say whether the token still counts, which is no fault of the token either.
    static func standingUnavailable(_ unavailable: StandingCache.Unavailable) -> AccessRefusal {
        unavailableNow(
            "the authorization server does not say at the moment whether the token still counts; try again later",
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

    /// What happened, for the log.
    public var reason: String { error?.reason ?? "the request holds no access token" }

    /// The fields of the response.
    public var headerFields: HTTPFields {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        fields[.wwwAuthenticate] = challenge?.description
        fields[.retryAfter] = retryAfter.map(String.init)
        if !body.isEmpty {
            fields[.contentType] = "application/json"
        }
        return fields
    }

    /// The body of the response: the JSON of the error, or nothing when there is no error to tell.
    public var body: [UInt8] {
        guard let error, let json = try? JSONEncoder().encode(TokenErrorResponse(error)) else { return [] }
        return Array(json)
    }
}

public import CounterfoilProtocol
import Foundation
public import HTTPTypes

/// The rejection of a request: the status, the challenge and the error of the response.
///
/// RFC 6750 §3 and RFC 9449 §7.1. The response contains no part of the token. ``reason``, which is for the log only,
/// may contain the key identifier (`kid`) of the token.
public struct AccessRefusal: Error, Sendable, Hashable {
    /// The HTTP status of the response: 400, 401, 403 or 503.
    public let status: HTTPResponse.Status
    /// The challenge for a bearer token; nil if the request used the scheme DPoP, or if the API requires bound tokens.
    ///
    /// Both challenges are nil if another token would not help, as with status 503.
    public let challenge: BearerChallenge?
    /// The challenge for a token that is bound to a key, which follows ``challenge``; nil if the API accepts none.
    public let proofChallenge: DPoPChallenge?
    /// The error in the response; nil if the request contained no token (RFC 6750 §3.1).
    public let error: OAuthError?
    /// `Retry-After` in seconds; nil if a retry would not help.
    public let retryAfter: Int?
    /// `DPoP-Nonce`, the nonce for the next proof of the client (RFC 9449 §8.2); nil if the response has none.
    public var proofNonce: String?

    /// Creates a refusal with status 403 for a valid token whose user may not access the requested object.
    ///
    /// The response has no challenge, because a client reacts to a challenge with a request for another token.
    /// No other token of the same user would help.
    ///
    /// - Parameter description: The `error_description` of the response.
    public static func forbidden(_ description: String) -> AccessRefusal {
        AccessRefusal(status: .forbidden, error: OAuthError(.init(rawValue: "forbidden"), description))
    }

    /// Creates a refusal with status 401 and challenges without an error code (RFC 6750 §3.1).
    static func noToken(_ challenges: Challenges) -> AccessRefusal {
        AccessRefusal(status: .unauthorized, challenges: challenges)
    }

    /// Creates a refusal with an error: status 400 for `invalid_request`, 403 for `insufficient_scope`, and 401
    /// for every other error (RFC 6750 §3.1, RFC 9470 §3, RFC 9449 §7.1).
    static func refused(
        _ error: OAuthError, _ challenges: Challenges, for scheme: Challenges.Scheme = .bearer
    ) -> AccessRefusal {
        let status: HTTPResponse.Status =
            switch error.code {
            case .invalidRequest: .badRequest
            case .insufficientScope: .forbidden
            default: .unauthorized
            }
        return AccessRefusal(status: status, challenges: challenges.stating(error, for: scheme), error: error)
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

    /// Creates a refusal with status 503, because the memory of used proofs is full.
    ///
    /// The proof may be unused. If the API forgot another one instead, that one could be used a second time.
    static func tooManyProofs() -> AccessRefusal {
        unavailableNow(
            "this API cannot accept more DPoP proofs at present; retry later",
            reason: "the memory of used DPoP proofs is full; raise proofLimit of ProofPolicy", retryAfter: 60)
    }

    private static func unavailableNow(_ words: String, reason: String, retryAfter: Int) -> AccessRefusal {
        AccessRefusal(
            status: .serviceUnavailable, error: OAuthError(.temporarilyUnavailable, words, reason: reason),
            retryAfter: retryAfter)
    }

    private init(
        status: HTTPResponse.Status,
        challenges: Challenges? = nil,
        error: OAuthError? = nil,
        retryAfter: Int? = nil
    ) {
        self.status = status
        challenge = challenges?.bearer
        proofChallenge = challenges?.dpop
        self.error = error
        self.retryAfter = retryAfter
    }

    /// The reason of the refusal, for the log only; it may be more detailed than `error_description`.
    public var reason: String { error?.reason ?? "the request contains no access token" }

    /// The header fields of the response, which include `Cache-Control: no-store`.
    ///
    /// `Access-Control-Expose-Headers` lets scripts read the challenge if the API allows their origin (Fetch §3.2). The
    /// API itself must set `Access-Control-Allow-Origin`.
    public var headerFields: HTTPFields {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        let challenges = [challenge?.description, proofChallenge?.description].compactMap(\.self)
        if !challenges.isEmpty { fields[.wwwAuthenticate] = challenges.joined(separator: ", ") }
        if let name = HTTPField.Name.dpopNonce { fields[name] = proofNonce }
        fields[.retryAfter] = retryAfter.map(String.init)
        let exposed = ["WWW-Authenticate", "DPoP-Nonce", "Retry-After"].filter { name in
            HTTPField.Name(name).map(fields.contains) ?? false
        }
        if !exposed.isEmpty { fields[.accessControlExposeHeaders] = exposed.joined(separator: ", ") }
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

@_spi(Counterfoil) import CounterfoilProtocol
import Crypto
import Foundation

/// A cache of introspection responses, which state whether an access token is still active.
///
/// At most one request for each token is in progress, and concurrent callers share it. Only tokens with a valid
/// signature are introspected, so forged tokens cause no requests to the authorization server. Time is measured
/// with a monotonic clock.
actor IntrospectionCache {
    /// The status of a token at the authorization server.
    enum TokenStatus: Sendable {
        /// The token is active and has this scope, and this is said about its key.
        case active(Scope, IntrospectedBinding)
        /// The token is not active, or this API is not one of its audiences.
        case inactive
    }

    /// The error thrown if the status of a token cannot be determined.
    struct Unavailable: Error {
        /// The number of seconds until a retry is useful.
        let retryAfter: Int
        /// The reason why the status cannot be determined, for the log only.
        let reason: String
        /// Whether introspection of any other token would fail in the same way.
        ///
        /// After such a failure, the cache sends no requests for ``retryAfter`` seconds.
        var isGeneral = true

        init(_ failure: RequestFailure) {
            retryAfter = min(max(failure.retryAfter ?? 1, 1), 60)
            reason = failure.description
        }

        init(_ reason: String, retryAfter: Int = 1, isGeneral: Bool = true) {
            self.retryAfter = retryAfter
            self.reason = reason
            self.isGeneral = isGeneral
        }
    }

    private struct Entry {
        let status: TokenStatus
        let until: ContinuousClock.Instant
    }

    /// The capacity of each of the two cache generations, `entries` and `earlierEntries`.
    private static let capacity = 10_000
    /// The maximum number of concurrent introspection requests.
    private static let requestLimit = 256

    private let issuer: Issuer
    private let introspection: TokenIntrospection
    private let now: @Sendable () -> ContinuousClock.Instant
    private var lookup: Task<Result<AbsoluteURI, RequestFailure>, Never>?
    /// The current generation of cached responses, keyed by the digest of the token, so that no tokens are stored.
    private var entries: [SHA256Digest: Entry] = [:]
    /// The previous generation; when `entries` is full, its entries move here, and those stored here are discarded.
    private var earlierEntries: [SHA256Digest: Entry] = [:]
    private var requests: [SHA256Digest: Task<Result<TokenStatus, Unavailable>, Never>] = [:]
    private var pause: (until: ContinuousClock.Instant, because: Unavailable)?

    init(issuer: Issuer, introspection: TokenIntrospection, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.issuer = issuer
        self.introspection = introspection
        self.now = now
    }

    /// Returns the current status of a token, from the cache or from the server.
    func status(of token: AccessToken) async throws(Unavailable) -> TokenStatus {
        let digest = SHA256.hash(data: Array(token.exposed.utf8))
        let now = now()
        if let entry = entries[digest] ?? earlierEntries[digest], now < entry.until { return entry.status }
        if let request = requests[digest] { return try await request.value.get() }
        if let pause, now < pause.until { throw pause.because }
        guard requests.count < Self.requestLimit else {
            throw Unavailable("\(Self.requestLimit) introspection requests are already in progress")
        }
        // The task is independent of the callers that wait for it, so it continues if one of them is cancelled.
        // The lifetime of a response starts when the request is sent.
        let request = Task {
            let result: Result<TokenStatus, Unavailable>
            do throws(Unavailable) { result = .success(try await introspect(token)) } catch { result = .failure(error) }
            store(result, of: digest, until: now + introspection.lifetime)
            return result
        }
        requests[digest] = request
        return try await request.value.get()
    }

    private func store(
        _ result: Result<TokenStatus, Unavailable>, of digest: SHA256Digest, until end: ContinuousClock.Instant
    ) {
        requests[digest] = nil
        switch result {
        case .success(let status):
            if entries.count >= Self.capacity { (earlierEntries, entries) = (entries, [:]) }
            entries[digest] = Entry(status: status, until: end)
            pause = nil
        case .failure(let failure) where failure.isGeneral:
            pause = (now() + .seconds(failure.retryAfter), failure)
        case .failure: break
        }
    }

    private func introspect(_ token: AccessToken) async throws(Unavailable) -> TokenStatus {
        let response: BoundedRequest.Response
        do {
            let uri = try await introspectionEndpoint()
            response = try await BoundedRequest.post(
                FormParameters(["token": token.exposed, "token_type_hint": "access_token"]), to: uri.rawValue,
                authorization: authorization, byteLimit: 64 * 1024)
        } catch {
            // The endpoint may have changed, so the next request reads it from the metadata again.
            lookup = nil
            throw Unavailable(error)
        }
        switch response.status {
        case 200: return try Self.status(in: response)
        case 400, 413: throw Unavailable(response.failure.description, isGeneral: false)
        case 401:
            // The cache waits longer than after other failures: a retry cannot succeed until an operator corrects
            // the credentials, and the server may treat frequent retries as attempts to guess the secret.
            throw Unavailable(
                "\(response.url) responded with status 401: the client_id or the client_secret of this API is wrong",
                retryAfter: 5)
        case 300...499 where response.status != 429: lookup = nil
        default: break
        }
        throw Unavailable(response.failure)
    }

    /// The members of an introspection response that are used (RFC 7662 §2.2).
    private struct Body: Decodable {
        let active: Bool
        let scope: String?
        let token_type: String?
        let cnf: IntrospectedBinding.Confirmation?
    }

    private static func status(in response: BoundedRequest.Response) throws(Unavailable) -> TokenStatus {
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(response.body)) else {
            throw Unavailable("\(response.url): the response is not a valid introspection response")
        }
        guard body.active else { return .inactive }
        let binding = IntrospectedBinding(body.cnf, tokenType: body.token_type)
        // RFC 7662 §2.2: `scope` is optional. If the response omits it, the token grants no scope.
        guard let text = body.scope, !text.isEmpty else { return .active(Scope(), binding) }
        guard let scope = try? Scope(lenient: text) else {
            throw Unavailable("\(response.url): the scope in the introspection response is invalid", isGeneral: false)
        }
        return .active(scope, binding)
    }

    /// The value of `Authorization`, with a form-encoded `client_id` and `client_secret` (RFC 6749 §2.3.1).
    private var authorization: String {
        let pair =
            FormParameters.encoded(introspection.clientID.rawValue) + ":"
            + FormParameters.encoded(introspection.clientSecret.exposed)
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }

    /// Returns the introspection endpoint from the metadata, which is cached until a request to the endpoint fails.
    private func introspectionEndpoint() async throws(RequestFailure) -> AbsoluteURI {
        let lookup =
            lookup
            ?? Task { [issuer] in
                do throws(RequestFailure) {
                    let metadata = try await IssuerMetadata.get(of: issuer)
                    return .success(
                        try IssuerMetadata.url(
                            metadata.introspectionEndpoint, of: "introspection_endpoint",
                            loopbackAllowed: issuer.isLoopback))
                } catch { return .failure(error) }
            }
        self.lookup = lookup
        return try await lookup.value.get()
    }
}

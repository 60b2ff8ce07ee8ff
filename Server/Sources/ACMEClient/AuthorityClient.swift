package import Foundation

/// The time and the random numbers of the orders.
package struct OrderClock: Sendable {
    /// The current time by the wall clock.
    package var now: @Sendable () -> Date = { Date() }
    /// Waits for some seconds; throws `CancellationError` if the task is cancelled.
    package var pause: @Sendable (TimeInterval) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    /// Returns a random number from 0 to 1.
    package var draw: @Sendable () -> Double = { Double.random(in: 0..<1) }

    package init() {}
}

/// A client of an authority (RFC 8555 §6): its directory, its nonces and signed requests.
package actor AuthorityClient {
    private let url: AuthorityURL
    private let transport: any AuthorityTransport
    private let clock: OrderClock
    private var known: AuthorityDirectory?
    /// Nonces of responses, which the next requests use.
    private var nonces: [String] = []

    private static let nonceLimit = 8
    /// The number of requests with which one is tried, if the authority refuses the nonces.
    private static let attemptLimit = 20
    private static let problemType = "badNonce"

    package init(_ url: AuthorityURL, transport: any AuthorityTransport, clock: OrderClock = OrderClock()) {
        self.url = url
        self.transport = transport
        self.clock = clock
    }

    /// Reads the directory, which is remembered.
    package func directory() async throws -> AuthorityDirectory {
        if let known { return known }
        let response = try await get("\(url)", at: .directory)
        guard let directory = AuthorityDirectory(response.body, from: url) else {
            throw ACMEError.malformed(.directory, "it lacks the URLs of RFC 8555 §7.1.1, or they are not https")
        }
        known = directory
        return directory
    }

    /// Sends a request without a signature.
    package func get(_ url: String, at step: ACMEError.Step) async throws -> AuthorityResponse {
        try checked(
            try await send(
                AuthorityRequest(method: .get, url: url, accepted: "application/json", body: []), at: step), at: step)
    }

    /// Sends a signed request; an empty payload reads a resource (POST-as-GET, RFC 8555 §6.3).
    ///
    /// If the authority refuses the nonce, the request is sent again with another one (RFC 8555 §6.5).
    ///
    /// - Parameters:
    ///   - payload: The JSON of the request.
    ///   - url: The URL to which it goes.
    ///   - account: The URL of the account; nil for a request that names the key itself.
    ///   - key: The account key.
    ///   - step: The step of the order, for errors.
    ///   - accepted: The content type that is wanted.
    /// - Throws: ``ACMEError``, or `CancellationError`.
    package func post(
        _ payload: [UInt8], to url: String, account: String?, key: AccountKey, at step: ACMEError.Step,
        accepting accepted: String = "application/json"
    ) async throws -> AuthorityResponse {
        guard self.url.allows(url) else { throw ACMEError.malformed(step, "a URL is not https") }
        for _ in 1..<Self.attemptLimit {
            let response = try await postOnce(
                payload, to: url, account: account, key: key, at: step, accepting: accepted)
            if response.status == 400,
                AuthorityProblem(status: 400, body: response.body).type == Self.problemType
            {
                continue
            }
            return try checked(response, at: step)
        }
        return try checked(
            try await postOnce(payload, to: url, account: account, key: key, at: step, accepting: accepted), at: step)
    }

    private func postOnce(
        _ payload: [UInt8], to url: String, account: String?, key: AccountKey, at step: ACMEError.Step,
        accepting accepted: String
    ) async throws -> AuthorityResponse {
        let nonce = try await nonce()
        let body: [UInt8]
        do {
            body = try JWS(payload: payload, url: url, nonce: nonce, account: account, key: key).json
        } catch { throw ACMEError.malformed(step, "the request cannot be signed") }
        return try await send(
            AuthorityRequest(method: .post, url: url, accepted: accepted, body: body), at: step)
    }

    /// Returns a nonce, each of which is used once.
    private func nonce() async throws -> String {
        if let nonce = nonces.popLast() { return nonce }
        let response = try await send(
            AuthorityRequest(method: .head, url: try await directory().newNonce, accepted: "*/*", body: []),
            at: .nonce)
        _ = try checked(response, at: .nonce)
        guard let nonce = nonces.popLast() else { throw ACMEError.malformed(.nonce, "it contains no nonce") }
        return nonce
    }

    private func send(
        _ request: AuthorityRequest, at step: ACMEError.Step
    ) async throws -> AuthorityResponse {
        let response: AuthorityResponse
        do { response = try await transport.send(request) } catch {
            try Task.checkCancellation()
            throw ACMEError.unreachable(step, reason: LogText.of("\(error)"))
        }
        // RFC 8555 §6.5.1: a nonce is base64url.
        if let nonce = response.nonce, (1...512).contains(nonce.utf8.count), nonces.count < Self.nonceLimit,
            nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        {
            nonces.append(nonce)
        }
        return response
    }

    /// Returns a successful response; throws an error for another one.
    private func checked(_ response: AuthorityResponse, at step: ACMEError.Step) throws -> AuthorityResponse {
        guard !(200..<300).contains(response.status) else { return response }
        let problem = AuthorityProblem(status: response.status, body: response.body)
        let retryAfter = response.pause(at: clock.now())
        if problem.type == "rateLimited" || response.status == 429 {
            throw ACMEError.limited(step, problem, retryAfter: retryAfter)
        }
        if response.status >= 500 { throw ACMEError.unavailable(step, problem, retryAfter: retryAfter) }
        throw ACMEError.refused(step, problem, retryAfter: retryAfter)
    }
}

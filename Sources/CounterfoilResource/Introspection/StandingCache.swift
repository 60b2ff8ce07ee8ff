import CounterfoilProtocol
import Crypto
import Foundation

/// What an access token is still worth, as its authorization server said lately.
///
/// About one token one request at a time goes to the server, whoever waits for it. Only tokens whose signature holds come here, so
/// that nobody makes the API ask about tokens of their own making. Time is that of a clock that nobody sets.
actor StandingCache {
    /// What a server says of a token.
    enum Standing: Sendable {
        /// It counts for this much.
        case active(Scope)
        /// It does not count, or not here.
        case inactive
    }

    /// The server could not say.
    struct Unavailable: Error {
        /// After how many seconds another attempt makes sense.
        let retryAfter: Int
        /// What happened, for the log.
        let reason: String
        /// Whether it would be the same with any token.
        var isGeneral = true

        init(_ failure: ExchangeFailure) {
            retryAfter = min(max(failure.retryAfter ?? 1, 1), 60)
            reason = failure.description
        }

        init(_ reason: String, retryAfter: Int = 1, isGeneral: Bool = true) {
            self.retryAfter = retryAfter
            self.reason = reason
            self.isGeneral = isGeneral
        }
    }

    private struct Answer {
        let standing: Standing
        let until: ContinuousClock.Instant
    }

    /// How many answers are kept at most, twice.
    private static let capacity = 10_000
    /// How many tokens are asked about at the same time at most.
    private static let flightLimit = 256

    private let issuer: Issuer
    private let introspection: TokenIntrospection
    private let now: @Sendable () -> ContinuousClock.Instant
    private var lookup: Task<Result<AbsoluteURI, ExchangeFailure>, Never>?
    /// By the digest of the token, so that no token lies here.
    private var answers: [SHA256Digest: Answer] = [:]
    private var earlierAnswers: [SHA256Digest: Answer] = [:]
    private var flights: [SHA256Digest: Task<Result<Standing, Unavailable>, Never>] = [:]
    private var pause: (until: ContinuousClock.Instant, because: Unavailable)?

    init(issuer: Issuer, introspection: TokenIntrospection, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.issuer = issuer
        self.introspection = introspection
        self.now = now
    }

    /// What a token is worth now.
    func standing(of token: AccessToken) async throws(Unavailable) -> Standing {
        let digest = SHA256.hash(data: Array(token.exposed.utf8))
        let now = now()
        if let answer = answers[digest] ?? earlierAnswers[digest], now < answer.until { return answer.standing }
        if let flight = flights[digest] { return try await flight.value.get() }
        if let pause, now < pause.until { throw pause.because }
        guard flights.count < Self.flightLimit else {
            throw Unavailable("\(Self.flightLimit) tokens are being asked about already")
        }
        // It belongs to the cache, not to who waits for it and may go away. An answer is as old as its question.
        let flight = Task {
            let result: Result<Standing, Unavailable>
            do throws(Unavailable) { result = .success(try await ask(about: token)) } catch { result = .failure(error) }
            keep(result, of: digest, until: now + introspection.lifetime)
            return result
        }
        flights[digest] = flight
        return try await flight.value.get()
    }

    private func keep(
        _ result: Result<Standing, Unavailable>, of digest: SHA256Digest, until end: ContinuousClock.Instant
    ) {
        flights[digest] = nil
        switch result {
        case .success(let standing):
            if answers.count >= Self.capacity { (earlierAnswers, answers) = (answers, [:]) }
            answers[digest] = Answer(standing: standing, until: end)
            pause = nil
        case .failure(let failure) where failure.isGeneral:
            pause = (now() + .seconds(failure.retryAfter), failure)
        case .failure: break
        }
    }

    private func ask(about token: AccessToken) async throws(Unavailable) -> Standing {
        let answer: BoundedExchange.Answer
        do {
            let uri = try await introspectionEndpoint()
            answer = try await BoundedExchange.post(
                FormParameters(["token": token.exposed, "token_type_hint": "access_token"]), to: uri.rawValue,
                authorization: authorization, byteLimit: 64 * 1024)
        } catch {
            // The server may have moved.
            lookup = nil
            throw Unavailable(error)
        }
        switch answer.status {
        case 200: return try Self.standing(in: answer)
        case 400, 413: throw Unavailable(answer.failure.description, isGeneral: false)
        case 401:
            // Nothing gets better by asking often, and a server may take it for guessing.
            throw Unavailable(
                "\(answer.url) answered 401: the client_id or the client_secret with which this API asks is not right",
                retryAfter: 5)
        case 300...499 where answer.status != 429: lookup = nil
        default: break
        }
        throw Unavailable(answer.failure)
    }

    /// RFC 7662 §2.2.
    private struct Body: Decodable {
        let active: Bool
        let scope: String?
    }

    private static func standing(in answer: BoundedExchange.Answer) throws(Unavailable) -> Standing {
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(answer.body)) else {
            throw Unavailable("\(answer.url): not an answer about a token")
        }
        guard body.active else { return .inactive }
        // What the server does not say, it does not grant.
        guard let text = body.scope, !text.isEmpty else { return .active(Scope()) }
        guard let scope = try? Scope(lenient: text) else {
            throw Unavailable("\(answer.url): the scope in the answer cannot be read", isGeneral: false)
        }
        return .active(scope)
    }

    /// RFC 6749 §2.3.1: both are form-encoded before they are joined.
    private var authorization: String {
        let pair =
            FormParameters.encoded(introspection.clientID.rawValue) + ":"
            + FormParameters.encoded(introspection.clientSecret.exposed)
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }

    /// Where to ask, looked up once.
    private func introspectionEndpoint() async throws(ExchangeFailure) -> AbsoluteURI {
        let lookup =
            lookup
            ?? Task { [issuer] in
                do throws(ExchangeFailure) {
                    let metadata = try await IssuerMetadata.get(of: issuer)
                    return .success(
                        try IssuerMetadata.address(
                            metadata.introspectionEndpoint, of: "introspection", loopbackAllowed: issuer.isLoopback))
                } catch { return .failure(error) }
            }
        self.lookup = lookup
        return try await lookup.value.get()
    }
}

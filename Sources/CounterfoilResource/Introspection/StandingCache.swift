import CounterfoilProtocol
import Crypto
import Foundation

/// What an access token is still worth, as its authorization server said lately.
///
/// About one token one request at a time goes to the server, whoever waits for it. Only tokens whose signature holds come here, so
/// that nobody makes the API ask about tokens of their own making.
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
    }

    private struct Answer {
        let standing: Standing
        let date: Date
    }

    private static let capacity = 10_000
    /// The least time between a request to a server that failed and the next one, in seconds.
    private static let retryInterval: TimeInterval = 1

    private let issuer: Issuer
    private let introspection: TokenIntrospection
    private var endpoint: AbsoluteURI?
    /// By the digest of the token, so that no token lies here.
    private var answers: [SHA256Digest: Answer] = [:]
    private var flights: [SHA256Digest: Task<Result<Standing, ExchangeFailure>, Never>] = [:]
    private var lastFailure: (date: Date, reason: String)?

    init(issuer: Issuer, introspection: TokenIntrospection) {
        self.issuer = issuer
        self.introspection = introspection
    }

    /// What a token is worth now.
    func standing(of token: AccessToken, at now: Date) async throws(Unavailable) -> Standing {
        let digest = SHA256.hash(data: Array(token.exposed.utf8))
        if let answer = answers[digest], !introspection.lifetime.hasPassed(since: answer.date, at: now) {
            return answer.standing
        }
        if let lastFailure, !Self.retryInterval.hasPassed(since: lastFailure.date, at: now) {
            throw unavailable(because: lastFailure.reason)
        }
        switch await flight(for: token, digest, at: now).value {
        case .success(let standing): return standing
        case .failure(let failure): throw unavailable(because: failure.description)
        }
    }

    /// Begins a request, or joins the one under way; it belongs to the cache, not to who waits for it and may go away.
    private func flight(
        for token: AccessToken, _ digest: SHA256Digest, at now: Date
    ) -> Task<Result<Standing, ExchangeFailure>, Never> {
        if let flight = flights[digest] { return flight }
        let flight = Task {
            let result: Result<Standing, ExchangeFailure>
            do throws(ExchangeFailure) { result = .success(try await ask(about: token)) } catch {
                result = .failure(error)
            }
            keep(result, of: digest, at: now)
            return result
        }
        flights[digest] = flight
        return flight
    }

    private func keep(_ result: Result<Standing, ExchangeFailure>, of digest: SHA256Digest, at now: Date) {
        flights[digest] = nil
        switch result {
        case .success(let standing):
            if answers.count >= Self.capacity { makeRoom(at: now) }
            answers[digest] = Answer(standing: standing, date: now)
            lastFailure = nil
        case .failure(let failure):
            answers[digest] = nil
            // The server may have moved.
            endpoint = nil
            lastFailure = (now, failure.description)
        }
    }

    private func makeRoom(at now: Date) {
        answers = answers.filter { !introspection.lifetime.hasPassed(since: $0.value.date, at: now) }
        if answers.count >= Self.capacity { answers.removeAll() }
    }

    private func ask(about token: AccessToken) async throws(ExchangeFailure) -> Standing {
        let uri = try await introspectionEndpoint()
        // RFC 6749 §2.3.1: both are form-encoded before they are joined.
        let pair =
            FormParameters.encoded(introspection.clientID.rawValue) + ":"
            + FormParameters.encoded(introspection.clientSecret.exposed)
        let answer = try await BoundedExchange.post(
            FormParameters(["token": token.exposed, "token_type_hint": "access_token"]), to: uri.rawValue,
            authorization: "Basic " + Data(pair.utf8).base64EncodedString(), byteLimit: 64 * 1024)
        switch answer.status {
        case 200: break
        case 401:
            throw ExchangeFailure(
                "\(uri) answered 401: the client_id or the client_secret with which this API asks is not right")
        default: throw answer.failure
        }
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(answer.body)) else {
            throw ExchangeFailure("\(uri): not an answer about a token")
        }
        guard body.active else { return .inactive }
        // What the server does not say, it does not grant.
        guard let text = body.scope, !text.isEmpty else { return .active(Scope()) }
        guard let scope = try? Scope(lenient: text) else {
            throw ExchangeFailure("\(uri): the scope in the answer cannot be read")
        }
        return .active(scope)
    }

    /// RFC 7662 §2.2.
    private struct Body: Decodable {
        let active: Bool
        let scope: String?
    }

    private func introspectionEndpoint() async throws(ExchangeFailure) -> AbsoluteURI {
        if let endpoint { return endpoint }
        let metadata = try await IssuerMetadata.get(of: issuer)
        let found = try IssuerMetadata.address(
            metadata.introspectionEndpoint, of: "introspection", loopbackAllowed: issuer.isLoopback)
        endpoint = found
        return found
    }

    private func unavailable(because reason: String) -> Unavailable {
        Unavailable(retryAfter: max(1, Int(Self.retryInterval.rounded(.up))), reason: reason)
    }
}

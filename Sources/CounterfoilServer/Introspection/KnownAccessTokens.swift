import CounterfoilProtocol
import CounterfoilTokens
import Crypto
import Synchronization

/// The access tokens that were verified lately.
///
/// An API asks about the same token with each request that brings it. What its signature proves stays proved while the keys are
/// the same, and takes longer to prove than everything else of the answer; whether it still counts is asked each time.
final class KnownAccessTokens: Sendable {
    /// How many are known at most.
    private static let capacity = 2048

    private struct State {
        var keys = JSONWebKeySet()
        /// By the digest of the token, so that no token lies here.
        var tokens: [SHA256Digest: IssuedAccessToken] = [:]
    }

    private let verifier: IssuedAccessTokenVerifier
    private let state = Mutex(State())

    init(_ verifier: IssuedAccessTokenVerifier) { self.verifier = verifier }

    /// What ``IssuedAccessTokenVerifier/verify(_:keys:)`` says.
    func verify(_ token: AnyToken, keys: JSONWebKeySet) throws(TokenRefusal) -> IssuedAccessToken {
        let digest = SHA256.hash(data: Array(token.exposed.utf8))
        let known = state.withLock { state in
            if state.keys != keys { state = State(keys: keys) }
            return state.tokens[digest]
        }
        if let known { return known }
        let verified = try verifier.verify(token, keys: keys)
        state.withLock { state in
            guard state.keys == keys else { return }
            if state.tokens.count >= Self.capacity { state.tokens.removeAll() }
            state.tokens[digest] = verified
        }
        return verified
    }
}

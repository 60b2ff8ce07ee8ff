@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto

/// A cache of verified access tokens.
///
/// An API introspects the same token with each request that carries it. A verified signature stays valid while
/// the keys are unchanged, and its verification takes longer than the rest of the response.
///
/// The cache does not record whether a token has expired or was revoked. The caller must check that each time.
final class VerifiedTokenCache: Sendable {
    /// The maximum number of cached tokens.
    private static let capacity = 2048

    private struct State {
        var keys = JSONWebKeySet()
        /// The verified tokens by their digest, so that the cache contains no usable token.
        var tokens: [SHA256Digest: IssuedAccessToken] = [:]
    }

    private let verifier: IssuedAccessTokenVerifier
    private let state = Mutex(State())

    init(_ verifier: IssuedAccessTokenVerifier) { self.verifier = verifier }

    /// Verifies a token as ``IssuedAccessTokenVerifier/verify(_:keys:)`` does, or returns the cached result.
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

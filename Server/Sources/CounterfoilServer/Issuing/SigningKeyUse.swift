package import CounterfoilStore
import CounterfoilTokens
package import Foundation

/// The longest lifetimes of the tokens that a server signs, in seconds.
package struct TokenLifetimes: Sendable, Hashable {
    package var accessToken: Int
    package var idToken: Int

    package init(accessToken: Int, idToken: Int) {
        self.accessToken = accessToken
        self.idToken = idToken
    }

    /// Returns the lifetimes that are at least as long as those in the policies of clients.
    package func covering(_ needs: SigningNeeds, unregistered policy: UnregisteredClientPolicy?) -> TokenLifetimes {
        TokenLifetimes(
            accessToken: max(accessToken, needs.accessTokenLifetime ?? 0, policy?.accessTokenLifetime ?? 0),
            idToken: max(idToken, needs.idTokenLifetime ?? 0))
    }

    /// The longest lifetime of a token that a key with an algorithm signs.
    func longest(_ algorithm: SigningAlgorithm) -> Int {
        algorithm == TokenIssuer.accessTokenAlgorithm ? max(accessToken, idToken) : idToken
    }
}

/// A signing key with its state, and what needs it.
package struct SigningKeyUse: Sendable, Hashable {
    package let key: SealedSigningKey
    package let state: SigningKeyLifecycle.State
    /// The beginning of the state.
    package let since: Date
    /// Whether access tokens are signed with the algorithm of the key.
    package let signsAccessTokens: Bool
    /// The number of clients that get ID tokens with the algorithm of the key.
    package let clients: Int
    /// The time from which no token that the key has signed is valid; nil while no end of its signatures is planned.
    package let tokensEnd: Date?
    /// The time for which an access token that the key has signed can still be valid, in seconds; 0 if none is.
    ///
    /// Tokens from before a change of the lifetimes can be valid for longer, but not longer than the key is published.
    package let accessTokenSeconds: Int

    package init(_ key: SealedSigningKey, needs: SigningNeeds, lifetimes: TokenLifetimes, at now: Date) {
        self.key = key
        (state, since) = key.state(at: now)
        signsAccessTokens = key.algorithm == TokenIssuer.accessTokenAlgorithm
        clients = needs.clients[key.algorithm] ?? 0
        tokensEnd = key.replacedAt?.addingTimeInterval(TimeInterval(lifetimes.longest(key.algorithm)))
        accessTokenSeconds =
            switch state {
            case _ where !signsAccessTokens: 0
            case .published: 0
            case .signing: lifetimes.accessToken
            case .retired: max(0, lifetimes.accessToken - Int(now.timeIntervalSince(since)))
            }
    }

    /// Reads the signing keys of a store, oldest first, with what needs them.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - usual: The lifetimes by the settings of the server.
    ///   - policy: The policy for unregistered clients; nil if it cannot be read.
    ///   - now: The current time.
    package static func all(
        in store: any SigningKeyStore, lifetimes usual: TokenLifetimes, unregistered policy: UnregisteredClientPolicy?,
        at now: Date
    ) async throws(StoreFault) -> [SigningKeyUse] {
        let needs = try await store.signingNeeds()
        let lifetimes = usual.covering(needs, unregistered: policy)
        return try await store.signingKeys().map { SigningKeyUse($0, needs: needs, lifetimes: lifetimes, at: now) }
    }
}

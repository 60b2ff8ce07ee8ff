import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

extension KeyDocument {
    /// The key as one line of text.
    var words: String {
        "\(kid)  \(algorithm)  \(state) since \(since)" + (tokensUntil.map { ", tokens until \($0)" } ?? "")
    }
}

extension Installation {
    /// Reads the signing keys, oldest first, with what needs them.
    func signingKeyUses(at now: Date) async throws -> [SigningKeyUse] {
        try await SigningKeyUse.all(
            in: store,
            lifetimes: TokenLifetimes(
                accessToken: recorded.accessTokenLifetime ?? ServerSettings.standardTokenLifetime,
                idToken: recorded.idTokenLifetime ?? ServerSettings.standardTokenLifetime),
            // The keys are shown although another version has written the policy.
            unregistered: try? await store.unregisteredClientPolicy(), at: now)
    }
}

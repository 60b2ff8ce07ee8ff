import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation

/// A signing key in the output of commands.
struct KeyDocument: Encodable {
    let kid: String
    let algorithm: String
    let state: String
    let since: String
    let signsFrom: String
    /// The time from which no token of the key is valid; nil while no end of its signatures is planned.
    let tokensUntil: String?
    /// The time for which an access token of the key can still be valid, in seconds.
    let accessTokenSeconds: Int
    /// The number of apps that get ID tokens with the algorithm.
    let clients: Int

    private enum CodingKeys: String, CodingKey {
        case kid, algorithm, state, since
        case signsFrom = "signs_from"
        case tokensUntil = "tokens_until"
        case accessTokenSeconds = "access_token_seconds"
        case clients = "apps"
    }

    init(_ use: SigningKeyUse) {
        kid = use.key.id.rawValue
        algorithm = use.key.algorithm.rawValue
        state = use.state.rawValue
        since = Moment.text(use.since)
        signsFrom = Moment.text(use.key.signsFrom)
        tokensUntil = use.tokensEnd.map(Moment.text)
        accessTokenSeconds = use.accessTokenSeconds
        clients = use.clients
    }

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

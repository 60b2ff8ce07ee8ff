import CounterfoilProtocol
import Foundation
import Synchronization

/// What a scripted server has given out; two servers that run beside each other share it.
final class Vault: Sendable {
    let contents = Mutex(VaultContents())
}

/// Codes, tokens and sign-ins of devices, by their text.
struct VaultContents: Sendable {
    var codes = BoundedTable<IssuedCode>()
    var refreshTokens = BoundedTable<IssuedRefreshToken>()
    var accessTokens = BoundedTable<IssuedToken>()
    var devices = BoundedTable<DeviceSignIn>()
    var pushedRequests = BoundedTable<RecordedParameters>()
    /// Clients that registered themselves, with their secrets.
    var registrations = BoundedTable<String>()
    /// Proofs that were used.
    var proofs = BoundedTable<Bool>()
    /// Clients that were given a refresh token already.
    var clientsWithRefreshToken: Set<String> = []
    private(set) var secrets: Set<String> = []

    /// A new text of 256 random bits that must not be seen.
    mutating func secret(_ prefix: String = "") -> String {
        let text = prefix + Base64URL.encode(RandomBytes().bytes(32))
        keepSecret(text)
        return text
    }

    /// Notes that a text must not be seen.
    mutating func keepSecret(_ text: String?) {
        guard let text, !text.isEmpty, secrets.count < 10_000 else { return }
        secrets.insert(text)
    }

    /// Ends whatever came from one authorization.
    mutating func end(_ authorization: String) {
        accessTokens.changeAll { if $0.grant.authorization == authorization { $0.isEnded = true } }
        refreshTokens.changeAll { if $0.grant.authorization == authorization { $0.isEnded = true } }
    }

    mutating func expireAccessTokens() { accessTokens.changeAll { $0.expires = .distantPast } }

    mutating func revokeEverything() {
        accessTokens.changeAll { $0.isEnded = true }
        refreshTokens.changeAll { $0.isEnded = true }
        codes.changeAll { $0.isUsed = true }
    }
}

/// What a person has allowed a client.
struct ScriptedGrant: Sendable {
    /// The name of this one authorization, which all that comes from it shares.
    let authorization: String
    let clientID: String
    let subject: String
    let scope: String
    let nonce: String?
    let resources: [String]
    let signedIn: Date
    let context: String?
    let mayRefresh: Bool
    /// The thumbprint of the key that tokens are bound to.
    var key: String?

    func isGranted(_ name: String) -> Bool { scope.split(separator: " ").contains(name[...]) }
}

/// A code that waits to be redeemed.
struct IssuedCode: Sendable {
    let grant: ScriptedGrant
    let redirectURI: String?
    let challenge: String?
    let isPlain: Bool
    /// The origin of the server at which alone it can be redeemed.
    let home: String
    var isUsed = false
}

/// A refresh token.
struct IssuedRefreshToken: Sendable {
    var grant: ScriptedGrant
    let home: String
    var isEnded = false
    /// What took its place.
    var successor: String?
}

/// An access token.
struct IssuedToken: Sendable {
    let grant: ScriptedGrant
    var expires: Date
    var isEnded = false
}

/// A sign-in on a device that waits for its person.
struct DeviceSignIn: Sendable {
    let grant: ScriptedGrant
    var home: String
    var polls = 0
    var isUsed = false
}

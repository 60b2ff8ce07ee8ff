import CounterfoilProtocol
import Foundation
import Synchronization

/// The codes and tokens that a scripted server has issued; two servers in one run share them.
final class Vault: Sendable {
    let contents = Mutex(VaultContents())
}

/// Codes, tokens and device sign-ins, by their text.
struct VaultContents: Sendable {
    var codes = BoundedTable<IssuedCode>()
    var refreshTokens = BoundedTable<IssuedRefreshToken>()
    var accessTokens = BoundedTable<IssuedToken>()
    var devices = BoundedTable<DeviceSignIn>()
    var pushedRequests = BoundedTable<RecordedParameters>()
    /// Registered clients, with their secrets; an empty secret means a public client.
    var registrations = BoundedTable<String>()
    /// The identifiers (`jti`) of used DPoP proofs.
    var proofs = BoundedTable<Bool>()
    /// Clients that have already received a refresh token.
    var clientsWithRefreshToken: Set<String> = []
    private(set) var secrets: Set<String> = []

    /// Creates a random text of 256 bits and records it as a secret.
    mutating func secret(_ prefix: String = "") -> String {
        let text = prefix + Base64URL.encode(RandomBytes().bytes(32))
        keepSecret(text)
        return text
    }

    /// Records a text as a secret.
    mutating func keepSecret(_ text: String?) {
        guard let text, !text.isEmpty, secrets.count < 10_000 else { return }
        secrets.insert(text)
    }

    /// Revokes every access token and refresh token of an authorization.
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

/// The access that a user allowed a client.
struct ScriptedGrant: Sendable {
    /// The identifier of the authorization, which all its tokens share.
    let authorization: String
    let clientID: String
    let subject: String
    let scope: String
    let nonce: String?
    let resources: [String]
    let signedIn: Date
    let context: String?
    let mayRefresh: Bool
    /// The thumbprint of the DPoP key that tokens are bound to.
    var key: String?

    func isGranted(_ name: String) -> Bool { scope.split(separator: " ").contains(name[...]) }
}

/// An authorization code.
struct IssuedCode: Sendable {
    let grant: ScriptedGrant
    let redirectURI: String?
    let challenge: String?
    let isPlain: Bool
    /// The origin of the only server that redeems the code.
    let home: String
    var isUsed = false
}

struct IssuedRefreshToken: Sendable {
    var grant: ScriptedGrant
    let home: String
    var isEnded = false
    /// The refresh token that replaced this one.
    var successor: String?
}

struct IssuedToken: Sendable {
    let grant: ScriptedGrant
    var expires: Date
    var isEnded = false
}

/// A device sign-in that the user has not approved yet.
struct DeviceSignIn: Sendable {
    let grant: ScriptedGrant
    var home: String
    var polls = 0
    var isUsed = false
}

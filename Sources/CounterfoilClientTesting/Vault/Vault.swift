@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// The codes and tokens that the servers of one run have issued.
final class Vault: Sendable {
    let contents = Mutex(VaultContents())
}

/// The state that the servers of one run share, keyed by the code, token or identifier.
struct VaultContents: Sendable {
    var codes = BoundedTable<IssuedCode>()
    var refreshTokens = BoundedTable<IssuedRefreshToken>()
    var accessTokens = BoundedTable<IssuedToken>()
    var devices = BoundedTable<DeviceSignIn>()
    var pushedRequests = BoundedTable<RecordedParameters>()
    /// The secrets of registered clients, keyed by client identifier; an empty string for a public client.
    var registrations = BoundedTable<String>()
    /// The access tokens of registrations (RFC 7592 §3), keyed by client identifier.
    var registrationTokens = BoundedTable<String>()
    /// The identifiers (`jti`) of used DPoP proofs.
    var proofs = BoundedTable<Bool>()
    /// The clients to which `RefreshTokenScript.Issue.withOfflineAccessType` gives a refresh token only with
    /// `prompt=consent`, because they already have one.
    var clientsWithRefreshToken: Set<String> = []
    private(set) var secrets: Set<String> = []

    /// Creates a random text with 256 bits of entropy, and records it as a secret.
    mutating func secret(_ prefix: String = "") -> String {
        let text = prefix + Base64URL.encode(RandomBytes().bytes(32))
        keepSecret(text)
        return text
    }

    /// Records a text as a secret, unless 10 000 secrets are already recorded.
    mutating func keepSecret(_ text: String?) {
        guard let text, !text.isEmpty, secrets.count < 10_000 else { return }
        secrets.insert(text)
    }

    /// Revokes every access token and refresh token of one grant.
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

/// The client, the user, the scope and the other values that all tokens of one grant share.
struct ScriptedGrant: Sendable {
    /// The identifier of the grant, which all tokens of the grant share.
    let authorization: String
    let clientID: String
    let subject: String
    var scope: String
    let nonce: String?
    var resources: [String]
    let signedIn: Date
    let context: String?
    let mayRefresh: Bool
    /// The thumbprint of the DPoP key to which the tokens are bound; nil for bearer tokens.
    var key: String?

    func isGranted(_ name: String) -> Bool { scope.split(separator: " ").contains(name[...]) }
}

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
    /// The refresh token that replaced this one; nil if this one was not rotated.
    var successor: String?
}

struct IssuedToken: Sendable {
    let grant: ScriptedGrant
    var expires: Date
    var isEnded = false
}

/// The state of a device sign-in, from the device authorization request on.
struct DeviceSignIn: Sendable {
    let grant: ScriptedGrant
    /// The code challenge of the device authorization request; nil if it had none.
    let challenge: CodeChallenge?
    var home: String
    var polls = 0
    var isUsed = false
}

public import CounterfoilProtocol
import Crypto
public import Foundation

/// That a refresh token is about to be sent, written down before it is.
///
/// A process may be killed after a server has used the refresh token up and before the answer is kept. Whoever finds an
/// intent while holding the exclusive right to its profile knows that this may have happened: the token is sent once more,
/// which a server with acknowledged rotation answers as before; and if a server refuses it now, the answer was lost and
/// nobody stole anything. An intent that concerns another token than the one that is kept is over.
public struct RefreshIntent: Sendable, Hashable, Codable {
    /// The SHA-256 of the refresh token, in base64url.
    public let tokenDigest: String
    /// Since when, by this device's clock.
    public let since: Date

    private enum CodingKeys: String, CodingKey {
        case tokenDigest = "token_sha256"
        case since
    }

    /// The intent to send a refresh token.
    public init(sending token: RefreshToken, at now: Date) {
        tokenDigest = Self.digest(of: token)
        since = now
    }

    /// Whether it is this token that was about to be sent.
    public func concerns(_ token: RefreshToken) -> Bool {
        ConstantTime.equals(tokenDigest, Self.digest(of: token))
    }

    private static func digest(of token: RefreshToken) -> String {
        Base64URL.encode(SHA256.hash(data: Array(token.exposed.utf8)))
    }
}

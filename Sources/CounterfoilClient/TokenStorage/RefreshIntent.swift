public import CounterfoilProtocol
import Crypto
public import Foundation

/// A note that a refresh token is about to be sent, stored before the request.
///
/// A process may be killed after the server has consumed the refresh token and before the response is stored. A
/// process that finds an intent while it holds the refresh lock of the profile knows that this may have
/// happened. It sends the token again. A server with acknowledged rotation answers as before. If the server
/// refuses the token, the response was lost, and the token was not necessarily stolen. An intent for a token
/// other than the stored one is obsolete.
public struct RefreshIntent: Sendable, Hashable, Codable {
    /// The SHA-256 digest of the refresh token, in base64url.
    public let tokenDigest: String
    /// The time of the intent, by this device's clock.
    public let since: Date

    private enum CodingKeys: String, CodingKey {
        case tokenDigest = "token_sha256"
        case since
    }

    /// Creates the intent to send a refresh token.
    public init(sending token: RefreshToken, at now: Date) {
        tokenDigest = Self.digest(of: token)
        since = now
    }

    /// Returns whether the intent is for this token.
    public func concerns(_ token: RefreshToken) -> Bool {
        ConstantTime.equals(tokenDigest, Self.digest(of: token))
    }

    private static func digest(of token: RefreshToken) -> String {
        Base64URL.encode(SHA256.hash(data: Array(token.exposed.utf8)))
    }
}

public import CounterfoilPlatform
public import CounterfoilProtocol
import Crypto

/// A marker that a process stores before it sends a refresh token.
///
/// A process may be killed after the server has consumed the refresh token and before the response is stored. The
/// next process that refreshes the profile finds this intent, so it knows that a response may be lost. That process
/// sends the same token again. A server that accepts the previous token until the new one is used (acknowledged
/// rotation) then issues tokens again. If the server refuses the token, the lost response explains the refusal, and
/// the token was not necessarily stolen. An intent for a token other than the stored one is obsolete.
public struct RefreshIntent: Sendable, Hashable, Codable {
    /// The SHA-256 digest of the refresh token, in base64url.
    public let tokenDigest: String
    /// The time at which the intent was created, by this device's clock.
    public let since: Date

    private enum CodingKeys: String, CodingKey {
        case tokenDigest = "token_sha256"
        case since
    }

    /// Creates the intent to send a refresh token; it contains the token only as a digest.
    public init(sending token: RefreshToken, at now: Date) {
        tokenDigest = SentDigest.ofText(token.exposed)
        since = now
    }

    /// Returns whether the intent was stored for this token; if false, the intent is obsolete.
    public func concerns(_ token: RefreshToken) -> Bool {
        ConstantTime.equals(tokenDigest, SentDigest.ofText(token.exposed))
    }
}

/// The digest by which a store recognizes a text.
enum SentDigest {
    /// Returns the SHA-256 digest of a text, in base64url.
    static func ofText(_ text: String) -> String { Base64URL.encode(SHA256.hash(data: Array(text.utf8))) }
}

/// An access token of any format.
///
/// Wire name `access_token`, RFC 6749 §1.4. Limit: 64 KiB of visible ASCII characters without spaces.
public struct AccessToken: Secret {
    /// The token in its wire form.
    public let exposed: String

    /// Creates a token from a received value; nil if it cannot be sent in an `Authorization` header.
    public init?(_ text: String) {
        guard (1...65536).contains(text.utf8.count), text.bytesAllSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        exposed = text
    }
}

/// A refresh token.
///
/// Wire name `refresh_token`, RFC 6749 §1.5. Limit: 16 KiB of characters in the range `%x20-7E`.
public struct RefreshToken: Secret {
    /// The token in its wire form.
    public let exposed: String

    /// Creates a token from a received value; nil if its characters or length are invalid.
    public init?(_ text: String) {
        guard (1...16384).contains(text.utf8.count), text.bytesAllSatisfy(\.isVisibleOrSpace) else { return nil }
        exposed = text
    }
}

/// An unverified ID token.
///
/// Wire name `id_token`, OpenID Connect Core §3.1.3.3. Limit: 64 KiB of visible ASCII characters without spaces.
public struct IDToken: Secret {
    /// The token in its wire form.
    public let exposed: String

    /// Creates a token from a received value; nil if its characters or length are invalid.
    public init?(_ text: String) {
        guard (1...65536).contains(text.utf8.count), text.bytesAllSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        exposed = text
    }
}

/// The secret of a confidential client.
///
/// Wire name `client_secret`, RFC 6749 §2.3.1. Limit: 1024 characters in the range `%x20-7E`. A native app
/// has no secret.
public struct ClientSecret: Secret {
    /// The secret in its wire form.
    public let exposed: String

    /// Creates a secret from a received value; nil if its characters or length are invalid.
    public init?(_ text: String) {
        guard (1...1024).contains(text.utf8.count), text.bytesAllSatisfy(\.isVisibleOrSpace) else { return nil }
        exposed = text
    }

    /// Generates a secret of 256 random bits, in characters that every client encodes in the same way.
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

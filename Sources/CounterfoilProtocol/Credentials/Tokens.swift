/// An access token of any format.
///
/// The parameter `access_token`, RFC 6749 §1.4: at most 64 KiB of visible ASCII characters without spaces.
public struct AccessToken: Secret {
    /// The token in plain text, as it is sent.
    public let exposed: String

    /// Creates a token from a received value; nil if it is empty, too long or not visible ASCII.
    public init?(_ text: String) {
        guard (1...65536).contains(text.utf8.count), text.bytesAllSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        exposed = text
    }
}

/// A refresh token, with which a client obtains new tokens from the token endpoint.
///
/// The parameter `refresh_token`, RFC 6749 §1.5: at most 16 KiB of characters in the range `%x20-7E`.
public struct RefreshToken: Secret {
    /// The token in plain text, as it is sent.
    public let exposed: String

    /// Creates a token from a received value; nil if its characters or length are invalid.
    public init?(_ text: String) {
        guard (1...16384).contains(text.utf8.count), text.bytesAllSatisfy(\.isVisibleOrSpace) else { return nil }
        exposed = text
    }
}

/// An unverified ID token, whose claims must not be used before verification.
///
/// The parameter `id_token`, OpenID Connect Core §3.1.3.3: at most 64 KiB of visible ASCII characters without spaces.
public struct IDToken: Secret {
    /// The token in plain text, as it is sent.
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
/// The parameter `client_secret`, RFC 6749 §2.3.1: at most 1024 characters in the range `%x20-7E`. A native app
/// has no secret.
public struct ClientSecret: Secret {
    /// The secret in plain text, before form encoding.
    public let exposed: String

    /// Creates a secret from a received value; nil if its characters or length are invalid.
    public init?(_ text: String) {
        guard (1...1024).contains(text.utf8.count), text.bytesAllSatisfy(\.isVisibleOrSpace) else { return nil }
        exposed = text
    }

    /// Generates a secret of 256 random bits, in characters that need no form encoding.
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

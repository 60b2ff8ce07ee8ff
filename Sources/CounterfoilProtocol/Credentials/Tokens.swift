/// An access token, whatever its form.
///
/// Wire name `access_token`, RFC 6749 §1.4. At most 64 KiB of visible characters without spaces.
public struct AccessToken: Secret {
    /// The token as it stands on the wire.
    public let exposed: String

    /// A token as it came from the wire, or nil when it could not stand in an `Authorization` header.
    public init?(_ text: String) {
        guard (1...65536).contains(text.utf8.count), text.bytesAllSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        exposed = text
    }
}

/// A refresh token.
///
/// Wire name `refresh_token`, RFC 6749 §1.5. At most 16 KiB of visible characters.
public struct RefreshToken: Secret {
    /// The token as it stands on the wire.
    public let exposed: String

    /// A token as it came from the wire, or nil when its characters or length cannot be those of a token.
    public init?(_ text: String) {
        guard (1...16384).contains(text.utf8.count), text.bytesAllSatisfy(\.isVisibleOrSpace) else { return nil }
        exposed = text
    }
}

/// An ID token that nobody has verified yet.
///
/// Wire name `id_token`, OpenID Connect Core §3.1.3.3.
public struct IDToken: Secret {
    /// The token as it stands on the wire.
    public let exposed: String

    /// A token as it came from the wire, or nil when it is not of the characters of a JWS.
    public init?(_ text: String) {
        guard (1...65536).contains(text.utf8.count), text.bytesAllSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        exposed = text
    }
}

/// The secret of a confidential client.
///
/// Wire name `client_secret`, RFC 6749 §2.3.1. A native application has none.
public struct ClientSecret: Secret {
    /// The secret as it stands on the wire.
    public let exposed: String

    /// A secret as it came from the wire, or nil when its characters or length cannot be those of a secret.
    public init?(_ text: String) {
        guard (1...1024).contains(text.utf8.count), text.bytesAllSatisfy(\.isVisibleOrSpace) else { return nil }
        exposed = text
    }

    /// A secret of 256 random bits, in characters that every client encodes alike.
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

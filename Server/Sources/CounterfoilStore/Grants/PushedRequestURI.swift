@_spi(Counterfoil) package import CounterfoilProtocol

/// The `request_uri` of a pushed authorization request: a URN with 256 random bits (RFC 9126 §2.2).
package struct PushedRequestURI: Sendable, Hashable {
    /// The beginning of every `request_uri` of this server; a `request_uri` of another form is not one of a pushed
    /// request.
    package static let prefix = "urn:ietf:params:oauth:request_uri:"

    /// The URN as it is sent.
    package let rawValue: String

    /// Parses a `request_uri`; nil unless it has the form of one that this server creates.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let random = text.dropFirst(Self.prefix.count)
        guard random.utf8.count == 43, Base64URL.decode(String(random))?.count == 32 else { return nil }
        rawValue = text
    }

    /// Creates a URN that cannot be guessed (RFC 9126 §7.1).
    package init(random: RandomBytes = RandomBytes()) {
        rawValue = Self.prefix + Base64URL.encode(random.bytes(32))
    }
}

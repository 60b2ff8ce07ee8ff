@_spi(Counterfoil) import CounterfoilProtocol

/// The form of a client identifier in the path of a page, where it is one segment.
///
/// Most identifiers need no encoding and appear as they are. Every other one, such as the URL of a client document, is
/// `~` followed by its base64url encoding.
///
/// Percent-encoding is not used, because some proxies refuse `%2F`. Others decode it before they forward a request,
/// such as nginx with a path in `proxy_pass`. The base64url encoding contains unreserved characters only, which no
/// proxy changes, and never a dot segment.
///
/// Each identifier has exactly one form, so a page has one URL.
enum ClientPathSegment {
    private static let mark: Character = "~"

    /// Returns the segment of an identifier.
    static func encode(_ id: ClientIdentifier) -> String {
        isPlain(id) ? id.rawValue : "\(mark)\(Base64URL.encode(Array(id.rawValue.utf8)))"
    }

    /// Returns the identifier of a segment; nil if the segment is not the form of any identifier.
    static func decode(_ segment: some StringProtocol) -> ClientIdentifier? {
        if let id = encoded(in: segment) { return id }
        guard let id = ClientIdentifier(String(segment)), isPlain(id) else { return nil }
        return id
    }

    /// Returns true if an identifier appears in paths as it is.
    ///
    /// Its characters are unreserved (RFC 3986 §2.3), it is not a dot segment, and it cannot be mistaken for the
    /// encoding of another identifier.
    static func isPlain(_ id: ClientIdentifier) -> Bool {
        id.rawValue.utf8.allSatisfy(\.isUnreserved) && id.rawValue.utf8.contains { $0 != UInt8(ascii: ".") }
            && encoded(in: id.rawValue) == nil
    }

    private static func encoded(in segment: some StringProtocol) -> ClientIdentifier? {
        guard segment.first == mark, let bytes = Base64URL.decode(segment.dropFirst()),
            let id = ClientIdentifier(String(decoding: bytes, as: UTF8.self)), id.rawValue.utf8.elementsEqual(bytes),
            !isPlain(id)
        else { return nil }
        return id
    }
}

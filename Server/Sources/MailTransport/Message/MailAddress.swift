/// The address of a mailbox: ASCII, `local@domain`, at most 254 bytes (RFC 5321 §4.5.3.1.3).
///
/// Quoted local parts and comments are refused, so the text needs no escaping in a header field, in an SMTP command or
/// in an argument of a program.
package struct MailAddress: Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// Parses an address; nil if malformed.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard bytes.count <= 254, bytes.allSatisfy({ (0x21...0x7E).contains($0) && !Self.excluded.contains($0) }),
            let at = bytes.firstIndex(of: UInt8(ascii: "@")), at != bytes.startIndex
        else { return nil }
        let domain = bytes[bytes.index(after: at)...]
        guard !domain.isEmpty, !domain.contains(UInt8(ascii: "@")) else { return nil }
        rawValue = text
    }

    package var description: String { rawValue }

    private static let excluded = Array("\"(),:;<>[\\]".utf8)
}

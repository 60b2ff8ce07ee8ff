import CounterfoilProtocol

/// An allowed link of an untrusted text: an https page or an email address.
package struct ConsentLink {
    /// The URL for `href`, in ASCII.
    package let address: String
    /// The destination shown to the reader: the host, with its port if one is given, or the email address.
    package let name: String
    /// Whether the link opens an https page; if false, it is an email address.
    package let isPage: Bool

    private let written: String

    /// Parses the URL of a link; returns nil for other schemes and for URLs that disguise their host.
    package init?(_ url: String) {
        guard let uri = try? AbsoluteURI(parsing: Self.encoded(url)) else { return nil }
        written = url
        switch uri.scheme.lowercased() {
        case "https":
            // User information before the host, and percent-encoding in the host, serve only to imitate another host.
            guard uri.userInformation == nil, let host = uri.host, Self.isHost(host) else { return nil }
            address = uri.rawValue
            name = host.lowercased() + (uri.port.map { ":\($0)" } ?? "")
            isPage = true
        case "mailto":
            // Only the email address is kept, because header fields in the URI could fill in a message (RFC 6068 §7).
            guard !uri.hasAuthority, Self.isMailAddress(uri.path) else { return nil }
            address = "mailto:" + uri.path
            name = uri.path
            isPage = false
        default: return nil
        }
    }

    /// Creates a link to an https page; nil for other schemes and for URLs that disguise their host.
    init?(page uri: AbsoluteURI) {
        self.init(uri.rawValue)
        guard isPage else { return nil }
    }

    /// Returns true if the text of a link states its true destination.
    package func isNamed(by text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        let scheme = isPage ? "https://" : "mailto:"
        return [name, scheme + name, scheme + name + "/", address, written].contains(text)
    }

    /// The URL with its non-ASCII bytes percent-encoded, as browsers do in paths and queries.
    private static func encoded(_ url: String) -> String {
        guard url.utf8.contains(where: { $0 >= 0x80 }) else { return url }
        return url.utf8.reduce(into: "") { text, byte in
            if byte < 0x80 {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    private static func isHost(_ host: String) -> Bool {
        guard (1...253).contains(host.utf8.count), !host.hasPrefix("."), !host.contains("..") else { return false }
        if host.hasPrefix("[") {
            return host.hasSuffix("]")
                && host.dropFirst().dropLast().utf8.allSatisfy { isHexadecimal($0) || $0 == 0x3A }
        }
        return host.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }

    private static func isMailAddress(_ text: String) -> Bool {
        let halves = text.split(separator: "@", omittingEmptySubsequences: false)
        guard halves.count == 2, (1...64).contains(halves[0].utf8.count), isHost(String(halves[1])) else {
            return false
        }
        return halves[0].utf8.allSatisfy { isLetterOrDigit($0) || ".-_+".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

import CounterfoilProtocol

/// Where a link of a stranger's text may lead: a page over https, or a letter.
struct ConsentLink {
    /// The address for `href`, in ASCII.
    let address: String
    /// What tells a reader whose it is: the host, with its port if one is written, or the mail address.
    let name: String
    /// Whether it opens a page.
    let isPage: Bool

    private let written: String

    /// Judges the address of a link; nil for every scheme that is not allowed and for what hides where it leads.
    init?(_ url: String) {
        guard let uri = try? AbsoluteURI(parsing: Self.encoded(url)) else { return nil }
        written = url
        switch uri.scheme.lowercased() {
        case "https":
            // User information before the host, and escapes in it, are there only to look like another host.
            guard uri.userInformation == nil, let host = uri.host, Self.isHost(host) else { return nil }
            address = uri.rawValue
            name = host.lowercased() + (uri.port.map { ":\($0)" } ?? "")
            isPage = true
        case "mailto":
            // Only the address itself: header fields could fill in a letter (RFC 6068 §7).
            guard !uri.hasAuthority, Self.isMailAddress(uri.path) else { return nil }
            address = "mailto:" + uri.path
            name = uri.path
            isPage = false
        default: return nil
        }
    }

    /// Whether the text of a link says truly where it leads.
    func isNamed(by text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        let scheme = isPage ? "https://" : "mailto:"
        return [name, scheme + name, scheme + name + "/", address, written].contains(text)
    }

    /// The URL with its bytes beyond ASCII escaped, as browsers do in paths and queries.
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

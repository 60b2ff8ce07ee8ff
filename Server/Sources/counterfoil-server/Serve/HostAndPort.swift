import Foundation

/// The host and port on which a server listens.
///
/// The host is an IP address in its usual form, or a name. The resolver of the system reads more: it takes `127.1` for
/// an address, and `*`, which elsewhere means every address, for this machine alone.
struct HostAndPort: Sendable {
    let host: String
    let port: Int

    /// An error for a text that is not a host and a port.
    enum Refusal: Error, CustomStringConvertible {
        case form
        /// The host is empty or `*`.
        case everyAddress

        var description: String {
            switch self {
            case .form: "must be HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080"
            case .everyAddress:
                "must be HOST:PORT; for every address of this machine, write 0.0.0.0:PORT for IPv4, or [::]:PORT"
            }
        }
    }

    init(_ text: String) throws(Refusal) {
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else {
            throw .form
        }
        let host = text[..<colon]
        guard !host.isEmpty, host != "*" else { throw .everyAddress }
        if host.hasPrefix("["), host.hasSuffix("]") {
            self.host = String(host.dropFirst().dropLast())
            guard Self.isAddress(String(self.host.prefix { $0 != "%" }), AF_INET6) else { throw .form }
        } else {
            self.host = String(host)
            guard Self.isAddress(self.host, AF_INET) || Self.isName(host) else { throw .form }
        }
        self.port = port
    }

    /// Returns a port in decimal digits, without a sign.
    private static func port(_ text: Substring) -> Int? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(text), port <= 65535
        else { return nil }
        return port
    }

    private static func isAddress(_ text: String, _ family: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(family, text, &bytes) == 1
    }

    /// Returns whether a text is a host name whose last label is not a number (RFC 1123 §2.1).
    private static func isName(_ text: Substring) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last(where: { !$0.isEmpty }), last.first?.isNumber == false else { return false }
        return labels.enumerated().allSatisfy { index, label in
            // A period at the end names the root of the DNS.
            (!label.isEmpty || index == labels.count - 1) && label.first != "-" && label.last != "-"
                && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        }
    }
}

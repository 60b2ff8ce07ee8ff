/// The mail server to which mails are submitted (RFC 6409).
package struct SMTPServer: Sendable, Hashable, CustomStringConvertible {
    /// How the connection is protected.
    package enum Security: Sendable, Hashable {
        /// TLS from the first byte, usually on port 465 (RFC 8314 §3.3).
        case implicitTLS
        /// STARTTLS, without which nothing is sent, usually on port 587 (RFC 3207).
        case startTLS
        /// No encryption, for a mail server on the same machine.
        case insecureWithoutTLS
    }

    package var security: Security
    package var host: String
    package var port: Int

    /// Reads `smtps://HOST[:PORT]` or `smtp://HOST[:PORT]`; nil if malformed.
    ///
    /// The standard ports are 465 and 587. The scheme `smtp` requires STARTTLS.
    package init?(_ url: String) {
        let lower = url.lowercased()
        let (rest, security, standard): (Substring, Security, Int)
        if lower.hasPrefix("smtps://") {
            (rest, security, standard) = (url.dropFirst(8), .implicitTLS, 465)
        } else if lower.hasPrefix("smtp://") {
            (rest, security, standard) = (url.dropFirst(7), .startTLS, 587)
        } else {
            return nil
        }
        guard let (host, port) = Self.hostAndPort(rest.hasSuffix("/") ? rest.dropLast() : rest, standard: standard)
        else { return nil }
        self.init(security, host: host, port: port)
    }

    package init(_ security: Security, host: String, port: Int) {
        self.security = security
        self.host = host
        self.port = port
    }

    private static func hostAndPort(_ text: Substring, standard: Int) -> (host: String, port: Int)? {
        var (host, port) = (text, standard)
        // The colons of an IPv6 address are in brackets.
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
            (host, port) = (text[..<colon], Int(number))
        }
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
        if isAddress { host = host.dropFirst().dropLast() }
        let isValid =
            !host.isEmpty && host.utf8.count <= 253
            && host.utf8.allSatisfy { isHostByte($0) || (isAddress && $0 == UInt8(ascii: ":")) }
        return isValid ? (String(host), port) : nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Whether the host is an address or the name of this machine.
    package var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0 == "." || $0.isNumber })
    }

    /// The URL, with the port.
    package var description: String { String(url(greetingAs: "").dropLast()) }

    /// The URL for libcurl, which never contains credentials.
    func url(greetingAs name: String) -> String {
        let scheme = security == .implicitTLS ? "smtps" : "smtp"
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(name)"
    }
}

/// The user name and the password for a mail server.
package struct SMTPCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let username: String
    let password: String

    /// Reads a file with the user name in the first line and the password in the second; nil if malformed.
    package init?(file text: String) {
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard lines.count == 2, lines.allSatisfy({ !$0.isEmpty && !$0.utf8.contains(0) }) else { return nil }
        username = String(lines[0])
        password = String(lines[1])
    }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

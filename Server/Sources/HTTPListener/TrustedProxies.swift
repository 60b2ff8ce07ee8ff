package import HTTPTypes
package import IPAddresses

/// The reverse proxies whose forwarding fields name the client address.
///
/// The fields of all other senders are ignored: a client that could choose its address could evade rate limits. So a
/// network that includes clients of any place, such as `0.0.0.0/0`, is refused.
package struct TrustedProxies: Sendable, Hashable {
    /// An error for a text that is not an IP address or a network in CIDR notation, or for a network of all clients.
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        /// The text and the expected format.
        package let description: String
    }

    /// No trusted proxies: the forwarding fields of all requests are ignored.
    package static let none = TrustedProxies(networks: [], includesUnixSockets: false)

    /// The text that stands for every process that can connect to a Unix socket of the server.
    static let unixSockets = "unix"

    /// The maximum number of forwarded addresses that are examined, starting with the last one.
    private static let limit = 32

    private let networks: [IPNetwork]
    /// Whether the peers of Unix sockets are trusted.
    private let includesUnixSockets: Bool

    private init(networks: [IPNetwork], includesUnixSockets: Bool) {
        self.networks = networks
        self.includesUnixSockets = includesUnixSockets
    }

    /// Parses addresses and networks, such as `127.0.0.1`, `10.0.0.0/8` or `fd00::/8`; `unix` stands for the peers of
    /// Unix sockets.
    package init(_ texts: [String]) throws(Refusal) {
        var networks: [IPNetwork] = []
        includesUnixSockets = texts.contains(Self.unixSockets)
        for text in texts where text != Self.unixSockets {
            guard let network = IPNetwork(text) else {
                throw Refusal(
                    description: "\(text) is not an address or a network, such as 127.0.0.1 or 10.0.0.0/8, nor unix")
            }
            guard !network.isBoundless else {
                throw Refusal(
                    description:
                        "\(text) includes clients, which could then choose their address and evade the limits; name the "
                        + "addresses of the proxies, such as 127.0.0.1 or 10.0.0.0/8")
            }
            networks.append(network)
        }
        self.networks = networks
    }

    /// Returns the source of a request.
    ///
    /// It is the address of the connection. If that is a trusted proxy, it is the address that the proxies report.
    ///
    /// Each proxy appends the address of its peer to `X-Forwarded-For` or `Forwarded` (RFC 7239 §5.2). The source is
    /// therefore the last address that is not a trusted proxy; the sender may have forged the addresses before it. All
    /// requests with unreadable fields through one proxy share one source, so a sender cannot evade rate limits with
    /// malformed fields.
    package func source(of fields: HTTPFields, from connection: IPAddress?) -> String {
        guard let connection else { return "unknown" }
        guard trusts(connection) else { return connection.source }
        let unreadable = "unknown, by way of \(connection.source)"
        let (plain, standard) = (Self.values("X-Forwarded-For", in: fields), Self.values("Forwarded", in: fields))
        // If both fields are present, the proxy wrote only one of them, and the other may be forged.
        guard plain.isEmpty || standard.isEmpty else { return unreadable }
        guard let standard = Self.split(standard, at: ",") else { return unreadable }
        let addresses =
            plain.isEmpty
            ? standard.suffix(Self.limit).map { Self.forNode(of: $0).flatMap(Self.address) }
            : plain.split(separator: ",").suffix(Self.limit).map { Self.address($0.trimmingOptionalWhitespace()) }
        for address in addresses.reversed() {
            // The addresses before an unreadable one may be forged.
            guard let address else { return unreadable }
            if !trusts(address) { return address.source }
        }
        return connection.source
    }

    /// Returns whether an address belongs to a trusted proxy.
    package func trusts(_ address: IPAddress) -> Bool {
        address == .unixSocket ? includesUnixSockets : networks.contains { $0.contains(address) }
    }

    private static func values(_ name: String, in fields: HTTPFields) -> Substring {
        guard let name = HTTPField.Name(name) else { return "" }
        return Substring(fields[values: name].joined(separator: ","))
    }

    /// Splits a text at a separator outside quoted strings (RFC 9110 §5.6.4), and removes the whitespace around each
    /// part; nil if a quoted string does not end.
    ///
    /// A proxy may write a field of the request, such as `Host`, into a quoted string.
    private static func split(_ text: Substring, at separator: Character) -> [Substring]? {
        var (isQuoted, isEscaped) = (false, false)
        let parts = text.split { character in
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = isQuoted
            } else if character == "\"" {
                isQuoted.toggle()
            }
            return character == separator && !isQuoted
        }
        guard !isQuoted else { return nil }
        return parts.map { $0.trimmingOptionalWhitespace() }
    }

    /// Returns the value of `for` in one element of `Forwarded`.
    private static func forNode(of element: Substring) -> Substring? {
        let pairs = (split(element, at: ";") ?? []).map { $0.split(separator: "=", maxSplits: 1) }
        let nodes = pairs.filter { $0.count == 2 && $0[0].lowercased() == "for" }
        guard nodes.count == 1, var node = nodes.first?.last else { return nil }
        if node.hasPrefix("\""), node.hasSuffix("\""), node.count >= 2 { node = node.dropFirst().dropLast() }
        return node
    }

    /// Parses an address with an optional port; an IPv6 address may be in brackets.
    private static func address(_ text: Substring) -> IPAddress? {
        if let address = IPAddress(text) { return address }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            guard isPort(text[text.index(after: end)...]) else { return nil }
            return IPAddress(text[text.index(after: text.startIndex)..<end])
        }
        guard let colon = text.firstIndex(of: ":"), isPort(text[colon...]) else { return nil }
        return IPAddress(text[..<colon])
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty
            || text.first == ":" && (1...5).contains(text.dropFirst().count) && text.dropFirst().allSatisfy(\.isNumber)
    }
}

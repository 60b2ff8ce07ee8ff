import Foundation
import HTTPTypes

/// The proxies in front of the server whose word is taken on where a request comes from (RFC 9700 §4.13).
///
/// Nobody is believed who is not named here: whoever could choose the address that counts could not be counted.
public struct TrustedProxies: Sendable, Hashable {
    /// Why a text names no proxies.
    public struct Refusal: Error, Hashable, CustomStringConvertible {
        /// What is wrong with which text.
        public let description: String
    }

    /// Nobody.
    public static let none = TrustedProxies(networks: [])

    /// How many addresses of a request are looked at.
    private static let limit = 32

    private let networks: [IPNetwork]

    private init(networks: [IPNetwork]) { self.networks = networks }

    /// Proxies by their addresses, each as `127.0.0.1`, `10.0.0.0/8` or `fd00::/8`.
    public init(_ texts: [String]) throws(Refusal) {
        var networks: [IPNetwork] = []
        for text in texts {
            guard let network = IPNetwork(text) else {
                throw Refusal(description: "\(text) is not an address or a network, such as 127.0.0.1 or 10.0.0.0/8")
            }
            networks.append(network)
        }
        self.networks = networks
    }

    /// Where a request comes from: the address of the connection, or, where that is a proxy's, the last address before the proxies.
    ///
    /// Each proxy adds the address that it was asked from at the end, so what stands before the first address that is no proxy's
    /// was written by who knows whom. They stand in `X-Forwarded-For`, or in `Forwarded` (RFC 7239 §5.2). Whoever makes a proxy say
    /// what cannot be read is counted with all others who do.
    func source(of fields: HTTPFields, from connection: IPAddress?) -> String {
        guard let connection else { return "unknown" }
        guard trusts(connection) else { return connection.place }
        let (plain, standard) = (Self.list("X-Forwarded-For", in: fields), Self.list("Forwarded", in: fields))
        let unreadable = "unknown, by way of \(connection.place)"
        // Where both kinds are there, one of them was not written by the proxy.
        guard plain.isEmpty || standard.isEmpty else { return unreadable }
        let addresses =
            plain.isEmpty
            ? standard.suffix(Self.limit).map { Self.forNode(of: $0).flatMap(Self.address) }
            : plain.suffix(Self.limit).map(Self.address)
        for address in addresses.reversed() {
            // Behind the last one that cannot be read nobody knows who speaks.
            guard let address else { return unreadable }
            if !trusts(address) { return address.place }
        }
        return connection.place
    }

    /// Whether an address is that of a proxy.
    func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    private static func list(_ name: String, in fields: HTTPFields) -> [Substring] {
        guard let name = HTTPField.Name(name) else { return [] }
        return fields[values: name].joined(separator: ",").split(separator: ",").map { element in
            let spaces: Set<Character> = [" ", "\t"]
            let start = element.drop { spaces.contains($0) }
            let end = start.lastIndex { !spaces.contains($0) }
            return end.map { start[...$0] } ?? ""
        }
    }

    /// The node of `for` in one element of `Forwarded`.
    private static func forNode(of element: Substring) -> Substring? {
        let pairs = element.split(separator: ";").map { $0.split(separator: "=", maxSplits: 1) }
        let nodes = pairs.filter { $0.count == 2 && $0[0].trimmingCharacters(in: .whitespaces).lowercased() == "for" }
        guard nodes.count == 1, var node = nodes.first?.last else { return nil }
        if node.hasPrefix("\""), node.hasSuffix("\""), node.count >= 2 { node = node.dropFirst().dropLast() }
        return node
    }

    /// An address, which may have a port behind it and, for IPv6, brackets around it.
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

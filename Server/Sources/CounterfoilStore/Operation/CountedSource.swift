import IPAddresses

/// The networks for which the limits for one source count a request.
///
/// An IPv4 address is one network. An IPv6 address is in three: those of 64, 56 and 48 bits, which a device, a
/// household and an organization usually have. A wider network has a higher limit, but not the sum of those in it.
package struct CountedSource: Sendable, Hashable {
    /// The source of a request that a proxy at a Unix socket sent without a trusted client address.
    package static let unixSocket = IPAddress.unixSocket.source

    /// The IPv4 address, or the IPv6 network of 64 bits, as logs and stored records contain it.
    package let name: String
    /// The networks from the narrowest to the widest.
    package let networks: [Network]
    /// The widest network, which shares a resource fairly with those of others.
    package let widest: Network

    /// A network, as a range of the names of sources.
    package struct Network: Sendable, Hashable {
        package let name: String
        /// The first and the last name in the network, in the order of bytes.
        package let first, last: String
        /// The lengths of the names in the network, because other names are between the first and the last, too.
        package let lengths: ClosedRange<Int>
        private let factor: Int

        /// Creates the network of one source.
        fileprivate init(only source: String) {
            self.init(source, first: source, last: source, lengths: 0...Int(Int16.max), factor: 1)
        }

        fileprivate init(_ name: String, first: String, last: String, lengths: ClosedRange<Int>, factor: Int) {
            self.name = name
            self.first = first
            self.last = last
            self.lengths = lengths
            self.factor = factor
        }

        /// Returns the limit of the network: that of a single source, twice as much with 56 bits, and four times as
        /// much with 48 bits, but at most half of what all sources share.
        package func limit(_ perSource: Int, of total: Int = .max) -> Int {
            min(perSource * factor, max(perSource, total / 2))
        }

        /// Returns true if a source is in the network.
        package func contains(_ source: String) -> Bool {
            lengths.contains(source.utf8.count) && first <= source && source <= last
        }
    }

    /// Creates the networks of a source, such as `192.0.2.1` or `2001:db8:2:1::/64`.
    package init(_ source: String) {
        name = source
        let own = Network(only: source)
        let wider = Self.wider(source)
        networks = [own] + wider
        widest = wider.last ?? own
    }

    /// Parses an IP address, or the name of a source as logs contain it; nil for any other text.
    package init?(typed text: String) {
        if let address = IPAddress(text) {
            self.init(address.source)
        } else if text.hasSuffix(Self.mark), let address = IPAddress(text.dropLast(3)) {
            self.init(address.source)
        } else if text == Self.unixSocket {
            self.init(text)
        } else {
            return nil
        }
    }

    /// The end of the name of an IPv6 network of 64 bits; four groups precede it.
    private static let mark = "::/64"

    private static func wider(_ source: String) -> [Network] {
        guard source.hasSuffix(mark) else { return [] }
        let groups = source.dropLast(mark.count).split(separator: ":", omittingEmptySubsequences: false)
        guard groups.count == 4, let subnet = UInt16(groups[3], radix: 16) else { return [] }
        let site = groups.prefix(3).joined(separator: ":")
        // Names have no leading zeros, so all subnets of a household have one length, except those below 0x100.
        let home = subnet >> 8 == 0 ? "" : String(subnet >> 8, radix: 16)
        let first = "\(site):\(home)\(home.isEmpty ? "0" : "00")\(mark)"
        let last = "\(site):\(home)ff\(mark)"
        return [
            Network(
                "\(site):\(home.isEmpty ? "0" : home + "00")::/56", first: first, last: last,
                lengths: first.utf8.count...last.utf8.count, factor: 2),
            // The character after `:` is `;`.
            Network(
                "\(site)::/48", first: "\(site):", last: "\(site);", lengths: 0...Int(Int16.max), factor: 4),
        ]
    }
}

/// A limit that all sources share, and the limit of each of them.
///
/// The second half of the limit is reserved for sources that hold little of it: a source that has a tenth of its own
/// limit gets no more of it. So no source, and no few of them, can use up what the others need.
package struct SharedLimit: Sendable, Hashable {
    /// The limit of one source; nil if sources have none.
    package let perSource: Int?
    /// The limit of all sources together.
    package let total: Int

    package init(perSource: Int?, total: Int) {
        self.perSource = perSource
        self.total = total
    }

    /// The number of what is counted, and the time at which the first of them stops counting.
    package struct Count<Time: Sendable>: Sendable {
        let number: Int
        package let first: Time?

        package init(_ number: Int, first: Time?) {
            self.number = number
            self.first = first
        }
    }

    /// Returns the count that has reached its limit, so that the source gets no more; nil if it can get one more.
    ///
    /// - Parameters:
    ///   - source: The source; nil if all requests have the same one, for example that of a proxy.
    ///   - all: The function that returns the count of all sources.
    ///   - part: The function that returns the count of a network.
    package func reached<Time>(
        by source: CountedSource?, all: () throws -> Count<Time>, of part: (CountedSource.Network) throws -> Count<Time>
    ) rethrows -> Count<Time>? {
        let all = try all()
        if all.number >= total { return all }
        guard let perSource, let source else { return nil }
        for network in source.networks {
            let count = try part(network)
            if count.number >= network.limit(perSource, of: total) { return count }
            // The widest network is the last one.
            if network == source.widest, all.number >= total / 2, count.number >= max(1, perSource / 10) {
                return count
            }
        }
        return nil
    }
}

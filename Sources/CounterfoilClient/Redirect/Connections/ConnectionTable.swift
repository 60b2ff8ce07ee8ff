/// The table of TCP connections that Linux shows in `/proc/net/tcp` and `/proc/net/tcp6` (proc_pid_net(5)).
struct ConnectionTable: Sendable {
    /// One end of a connection.
    struct Endpoint: Sendable, Hashable {
        /// The 16 bytes of the IPv6 address, in network order; an IPv4 address is mapped (RFC 4291 §2.5.5.2).
        let address: [UInt8]
        let port: UInt16

        /// Creates an endpoint from an IPv4 address (4 bytes) or an IPv6 address (16 bytes).
        init(_ address: [UInt8], port: UInt16) {
            self.address = address.count == 4 ? Self.mappedPrefix + address : address
            self.port = port
        }

        private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]
    }

    /// One socket of the table.
    struct Entry: Sendable, Hashable {
        /// The user who created the socket; 0 if no process has the socket open any more.
        let user: UInt32
        /// The inode of the socket; 0 if no process has the socket open any more.
        let inode: UInt64
        /// Whether both sides can still send (`TCP_ESTABLISHED`).
        let isEstablished: Bool
    }

    /// The text of the tables.
    let text: [UInt8]

    /// Returns the socket at `local` that is connected to `remote`; nil if the table does not list it.
    func entry(from local: Endpoint, to remote: Endpoint) -> Entry? {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            // `sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode …`
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
            guard fields.count >= 10, Self.endpoint(fields[1]) == local, Self.endpoint(fields[2]) == remote,
                let user = UInt32(Self.text(fields[7])), let inode = UInt64(Self.text(fields[9]))
            else { continue }
            return Entry(user: user, inode: inode, isEstablished: Self.text(fields[3]) == "01")
        }
        return nil
    }

    /// Parses an address of 8 or 32 hexadecimal digits, a colon, and a port of 4.
    ///
    /// Linux writes each 4 bytes of the address as one number in the byte order of the machine.
    private static func endpoint(_ field: ArraySlice<UInt8>) -> Endpoint? {
        let parts = field.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 8 || parts[0].count == 32, parts[1].count == 4,
            let port = UInt16(text(parts[1]), radix: 16)
        else { return nil }
        var address: [UInt8] = []
        var rest = parts[0]
        while !rest.isEmpty {
            guard let word = UInt32(text(rest.prefix(8)), radix: 16) else { return nil }
            withUnsafeBytes(of: word) { address.append(contentsOf: $0) }
            rest = rest.dropFirst(8)
        }
        return Endpoint(address, port: port)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

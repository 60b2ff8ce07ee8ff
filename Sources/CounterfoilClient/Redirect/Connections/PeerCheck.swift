import CounterfoilPlatform

/// The check that a local connection comes from a process of the user who runs this process.
///
/// Other users of the device can connect to a loopback port too. On Linux, the table of connections names the user of
/// the other end. If the system does not tell the user for certain, the connection is accepted:
///
/// - on other systems, and if the table cannot be read or does not list the other end, for example because it is in
///   another network namespace;
/// - if the other end belongs to root, who can read the memory of this process anyway, and who runs the relay between
///   Windows and WSL;
/// - if this process belongs to root, because the browser of `sudo` and of a container is often another user's;
/// - if the user has no number in the user namespace of this process.
struct PeerCheck: Sendable {
    enum Verdict: Sendable, Hashable {
        /// The connection comes from a process of this user, or the system does not tell.
        case accepted
        /// The connection comes from a process of another user.
        case otherUser
        /// No process has the other end open any more, so that its user is unknown and no response arrives there.
        case closed
    }

    /// The effective user of this process.
    let user: UInt32
    /// The number that stands for users without a number in this user namespace; nil if every user has one.
    let unmappedUser: UInt32?
    /// Reads the current table; nil if the system does not show it.
    let table: @Sendable () -> ConnectionTable?

    /// Decides about a connection from `peer` that this process has accepted at `own`.
    func verdict(on peer: ConnectionTable.Endpoint, connectedTo own: ConnectionTable.Endpoint) -> Verdict {
        // The system does not show the table in one piece, so an entry can be missing once.
        for _ in 0..<3 {
            guard let table = table() else { return .accepted }
            if let entry = table.entry(from: peer, to: own) { return verdict(on: entry) }
            // A peer that aborts the connection is in no table. This end is then not established either.
            guard table.entry(from: own, to: peer)?.isEstablished == true else { return .closed }
        }
        return .accepted
    }

    private func verdict(on entry: ConnectionTable.Entry) -> Verdict {
        // The table shows such a socket as one of root.
        guard entry.inode != 0 else { return .closed }
        let isOther = ![user, 0, unmappedUser].contains(entry.user) && user != 0
        return isOther ? .otherUser : .accepted
    }
}

// MARK: - This system

#if os(Linux)
    extension PeerCheck {
        /// The check for the user of this process.
        static let ofThisProcess = PeerCheck(
            user: geteuid(), unmappedUser: unmappedUser(uidMap: read("/proc/self/uid_map"), overflow: overflowUser),
            table: {
                let text = read("/proc/net/tcp") + read("/proc/net/tcp6")
                return text.isEmpty ? nil : ConnectionTable(text: text)
            })

        /// Decides about an accepted connection.
        func verdict(on descriptor: Int32) -> Verdict {
            guard let peer = Self.endpoint(of: descriptor, getpeername),
                let own = Self.endpoint(of: descriptor, getsockname)
            else { return .closed }
            return verdict(on: peer, connectedTo: own)
        }

        /// Returns nil if `/proc/self/uid_map` gives every user its own number, as outside of user namespaces.
        static func unmappedUser(uidMap: [UInt8], overflow: UInt32) -> UInt32? {
            let ranges = uidMap.split(separator: UInt8(ascii: "\n")).map { line in
                line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            }
            return ranges == [["0", "0", "4294967295"]] ? nil : overflow
        }

        private static var overflowUser: UInt32 {
            let text = String(decoding: read("/proc/sys/kernel/overflowuid"), as: UTF8.self)
            return UInt32(text.prefix { $0 != "\n" }) ?? 65534
        }

        /// The maximum size of a table, in bytes; it has room for 400 000 connections.
        private static let byteLimit = 64 * 1024 * 1024

        private static func read(_ path: String) -> [UInt8] {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return [] }
            defer { close(descriptor) }
            return (try? systemReadAll(descriptor, limit: byteLimit)) ?? []
        }

        private static func endpoint(
            of descriptor: Int32,
            _ name: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
        ) -> ConnectionTable.Endpoint? {
            var storage = sockaddr_storage()
            return withUnsafeMutableBytes(of: &storage) { bytes in
                var size = socklen_t(bytes.count)
                guard name(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size) == 0 else {
                    return nil
                }
                switch Int32(bytes.load(as: sockaddr.self).sa_family) {
                case AF_INET:
                    let address = bytes.load(as: sockaddr_in.self)
                    return ConnectionTable.Endpoint(
                        withUnsafeBytes(of: address.sin_addr) { Array($0) }, port: UInt16(bigEndian: address.sin_port))
                case AF_INET6:
                    let address = bytes.load(as: sockaddr_in6.self)
                    return ConnectionTable.Endpoint(
                        withUnsafeBytes(of: address.sin6_addr) { Array($0) }, port: UInt16(bigEndian: address.sin6_port)
                    )
                default: return nil
                }
            }
        }
    }
#else
    extension PeerCheck {
        /// The check of a system that does not tell the user of a connection.
        static let ofThisProcess = PeerCheck(user: 0, unmappedUser: nil, table: { nil })

        /// Accepts every connection.
        func verdict(on descriptor: Int32) -> Verdict { .accepted }
    }
#endif

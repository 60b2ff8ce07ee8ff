import CounterfoilPlatform

/// The system calls for the sockets of receivers, which no child process inherits.
enum Socket {
    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = Int32(SOCK_STREAM)
    #endif

    /// The maximum number of connections that wait to be accepted.
    static let backlog = 64

    #if canImport(Glibc)
        private static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
        private static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    #elseif canImport(Musl)
        private static let closeOnExec = Int32(SOCK_CLOEXEC)
        private static let nonBlocking = Int32(SOCK_NONBLOCK)
    #endif

    /// Creates a stream socket of an address family.
    static func make(_ family: Int32, isBlocking: Bool = false) throws(SystemCallError) -> Int32 {
        #if canImport(Darwin)
            let descriptor = socket(family, stream, 0)
            guard descriptor >= 0 else { throw .latest }
            configure(descriptor, isBlocking: isBlocking)
        #else
            let descriptor = socket(family, stream | closeOnExec | (isBlocking ? 0 : nonBlocking), 0)
            guard descriptor >= 0 else { throw .latest }
        #endif
        return descriptor
    }

    /// Creates two connected sockets.
    static func makePair() throws(SystemCallError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Darwin)
            guard socketpair(AF_UNIX, stream, 0, &ends) == 0 else { throw .latest }
            for end in ends { configure(end, isBlocking: false) }
        #else
            guard socketpair(AF_UNIX, stream | closeOnExec | nonBlocking, 0, &ends) == 0 else { throw .latest }
        #endif
        return (ends[0], ends[1])
    }

    /// Accepts the next connection to a listening socket.
    static func accept(_ listener: Int32) throws(SystemCallError) -> Int32 {
        let descriptor = platformAccept(listener)
        guard descriptor >= 0 else { throw .latest }
        configure(descriptor, isBlocking: false)
        return descriptor
    }

    /// Sends as many of the bytes as the system takes, and returns their number; a closed peer raises no signal.
    static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(SystemCallError) -> Int {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        let count = bytes.withUnsafeBytes { platformSend(descriptor, $0.baseAddress, $0.count, flags) }
        guard count >= 0 else { throw .latest }
        return count
    }

    /// Reads the bytes that have arrived, at most 16 KiB; empty at the end of the input.
    static func receive(from descriptor: Int32) throws(SystemCallError) -> [UInt8] {
        var failure: SystemCallError?
        let bytes = [UInt8](unsafeUninitializedCapacity: 16 * 1024) { buffer, filled in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count < 0 { failure = .latest }
            filled = max(0, count)
        }
        if let failure { throw failure }
        return bytes
    }

    /// Closes the output of a connection, so that the peer reads the end of the response.
    static func closeOutput(of descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    private static func configure(_ descriptor: Int32, isBlocking: Bool) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if !isBlocking { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
        #if canImport(Darwin)
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }
}

/// `accept` of the system, which ``Socket/accept(_:)`` hides inside the type.
private func platformAccept(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }

/// `send` of the system, which ``Socket/send(_:to:)`` hides inside the type.
private func platformSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}

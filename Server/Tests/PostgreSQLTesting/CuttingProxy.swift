@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport

/// A TCP proxy before a server that cuts a connection at a chosen moment.
package final class CuttingProxy: Sendable {
    /// The fate of the next bytes that a client sends.
    package enum Cut: Sendable {
        /// They do not reach the server.
        case before
        /// The server gets the first half of them.
        case halfway
        /// The server gets them, and the client does not get the answer.
        case afterwards
    }

    package let port: Int
    private let listener: Int32
    private let target: Int
    private let state = Mutex(State())

    private struct State {
        var next: Cut?
        /// The number of chunks after which one is cut at random; nil for none.
        var interval: Int?
        var chunks = 0
        var isRefusing = false
        /// The number of times that connections were refused, so that one which is being accepted is closed, too.
        var refusals = 0
        var connections: Set<Int32> = []
        /// The server ends of connections whose next answer is not forwarded.
        var awaited: Set<Int32> = []
        var accepted = 0
    }

    package init(to target: Int) throws {
        self.target = target
        listener = socket(AF_INET, streamSocket, 0)
        var address = Self.address(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 64) == 0
                    ? getsockname(listener, address, &size) : -1
            }
        }
        guard result == 0 else { throw PostgreSQLServer.Failure(description: "no port is free") }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in accept() }
    }

    /// Cuts a connection when a client sends the next time.
    package func cutNext(_ cut: Cut) { state.withLock { $0.next = cut } }

    /// Cuts a connection at random each time that clients have sent a number of chunks; nil for no more cuts.
    package func cutEvery(_ interval: Int?) { state.withLock { $0.interval = interval } }

    /// Closes every connection, and new ones at once, until it is called with false.
    package func refuse(_ isRefusing: Bool = true) {
        state.withLock { state in
            state.isRefusing = isRefusing
            guard isRefusing else { return }
            state.refusals += 1
            // A descriptor is closed only when it is no longer in this set.
            for descriptor in state.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Closes new connections at once, and lets those that are open be.
    package func refuseLater() { state.withLock { $0.isRefusing = true } }

    /// The number of chunks that clients have sent; a request of moderate size is one.
    package var chunks: Int { state.withLock { $0.chunks } }

    /// The number of connections that were accepted.
    package var accepted: Int { state.withLock { $0.accepted } }

    package func close() {
        refuse()
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return address
    }

    private func accept() {
        while true {
            let client = Foundation.accept(listener, nil, nil)
            guard client >= 0 else { break }
            let (isRefused, refusals) = state.withLock { state in
                state.accepted += 1
                return (state.isRefusing, state.refusals)
            }
            guard !isRefused, let server = connect() else {
                Foundation.close(client)
                continue
            }
            let isKept = state.withLock { state in
                guard state.refusals == refusals else { return false }
                state.connections.formUnion([client, server])
                return true
            }
            guard isKept else {
                Foundation.close(client)
                Foundation.close(server)
                continue
            }
            Thread.detachNewThread { [self] in forwardRequests(from: client, to: server) }
            Thread.detachNewThread { [self] in forwardAnswers(from: server, to: client) }
        }
        Foundation.close(listener)
    }

    private func connect() -> Int32? {
        let server = socket(AF_INET, streamSocket, 0)
        var address = Self.address(target)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Foundation.connect(server, $0, size) }
        }
        guard result == 0 else {
            Foundation.close(server)
            return nil
        }
        return server
    }

    private func forwardRequests(from client: Int32, to server: Int32) {
        while let bytes = Self.read(client) {
            let cut = state.withLock { state in
                defer { state.next = nil }
                state.chunks += 1
                if let interval = state.interval, state.chunks.isMultiple(of: interval) {
                    return [Cut.before, .halfway, .afterwards].randomElement()
                }
                return state.next
            }
            switch cut {
            case nil: Self.write(bytes[...], to: server)
            case .before: shutdown(client, Int32(SHUT_RDWR))
            case .halfway:
                Self.write(bytes.prefix(bytes.count / 2), to: server)
                shutdown(client, Int32(SHUT_RDWR))
            case .afterwards:
                let isAwaited = state.withLock { $0.awaited.insert(server).inserted }
                if isAwaited { Self.write(bytes[...], to: server) }
            }
        }
        end(client, server)
    }

    private func forwardAnswers(from server: Int32, to client: Int32) {
        while let bytes = Self.read(server) {
            // The answer shows that the server has carried out what it was sent.
            guard !state.withLock({ $0.awaited.contains(server) }) else { break }
            Self.write(bytes[...], to: client)
        }
        end(client, server)
    }

    /// Ends one direction of a connection, and closes the descriptors when both have ended.
    private func end(_ client: Int32, _ server: Int32) {
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
        let isLast = state.withLock { state in
            guard state.connections.isDisjoint(with: [client, server]) else {
                state.connections.subtract([client, server])
                return false
            }
            state.awaited.remove(server)
            return true
        }
        guard isLast else { return }
        Foundation.close(client)
        Foundation.close(server)
    }

    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

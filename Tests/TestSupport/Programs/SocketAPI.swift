import Dispatch
import Foundation

/// An API on loopback, whose responses a test writes byte by byte.
package final class SocketAPI: Sendable {
    private let socket: ListeningSocket

    /// Listens, and passes each request to `answer` on a thread of its own; the connection is closed afterwards.
    package init(_ answer: @escaping @Sendable (borrowing Exchange) -> Void) throws {
        let socket = try ListeningSocket()
        self.socket = socket
        Thread.detachNewThread {
            while case let connection = accept(socket.handle.fileDescriptor, nil, nil), connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                #if canImport(Darwin)
                    var isOn: Int32 = 1
                    setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
                #endif
                Thread.detachNewThread {
                    guard let exchange = Exchange(on: connection) else { return }
                    answer(exchange)
                }
            }
        }
    }

    // Closing a socket does not wake the thread that waits for a connection.
    deinit { shutdown(socket.handle.fileDescriptor, Int32(SHUT_RDWR)) }

    /// The origin of the API.
    package var origin: String { "http://127.0.0.1:\(socket.port)" }

    /// A request, and the connection on which it arrived.
    package struct Exchange: ~Copyable {
        /// The request line and the header fields.
        package let head: String
        private let connection: Int32
        private let beginning: [UInt8]

        /// Reads the head of a request; nil if the client closes the connection before.
        fileprivate init?(on connection: Int32) {
            var received: [UInt8] = []
            while true {
                if let end = received.firstRange(of: Array("\r\n\r\n".utf8)) {
                    head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
                    beginning = Array(received[end.upperBound...])
                    self.connection = connection
                    return
                }
                guard let bytes = Self.bytes(from: connection) else {
                    close(connection)
                    return nil
                }
                received += bytes
            }
        }

        deinit { close(connection) }

        /// A client that is gone must not end the tests by SIGPIPE.
        private static var sendFlags: Int32 {
            #if canImport(Darwin)
                0
            #else
                Int32(MSG_NOSIGNAL)
            #endif
        }

        private static func bytes(from connection: Int32) -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 256 * 1024)
            let count = recv(connection, &buffer, buffer.count, 0)
            return count > 0 ? Array(buffer[..<count]) : nil
        }

        /// Reads the body as it is on the wire, part by part, until `isRead` returns true or the client closes the
        /// connection.
        package func readBody(until isRead: (_ part: [UInt8]) -> Bool) {
            if isRead(beginning) { return }
            while let bytes = Self.bytes(from: connection) { if isRead(bytes) { return } }
        }

        /// Writes a part of the response; returns false if the client has closed the connection.
        @discardableResult
        package func write(_ bytes: some Collection<UInt8>) -> Bool {
            var rest = Array(bytes)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Self.sendFlags) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// Writes the head of a response, or a part of its body.
        @discardableResult
        package func write(_ text: String) -> Bool { write(text.utf8) }
    }
}

/// A gate that a test opens for a thread that waits at it.
package struct Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    /// Lets one thread pass.
    package func open() { semaphore.signal() }

    /// Waits until the gate is opened; returns false if it is not opened within a minute.
    @discardableResult
    package func pass() -> Bool { semaphore.wait(timeout: .now() + 60) == .success }
}

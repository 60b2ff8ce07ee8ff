package import CounterfoilProtocol
import NIOCore
import NIOHTTP1

/// A receiver for callbacks on a loopback port (RFC 8252 §7.3 and §8.3).
///
/// The receiver listens on loopback only, from ``listen(at:)`` until ``close()``. If the device has both
/// 127.0.0.1 and ::1, the receiver uses the same port on both. It accepts only the expected callback, once. It
/// rejects any other request and continues to wait. An idle connection does not block other connections.
package final class LoopbackReceiver: RedirectReceiver, WaitingReceiver {
    /// The redirect URI with the port in use.
    package let redirectURI: RedirectURI
    private let sockets: [any Channel]
    let wait: CallbackWait
    private let connections: ReceiverConnections

    private init(
        redirectURI: RedirectURI, sockets: [any Channel], wait: CallbackWait, connections: ReceiverConnections
    ) {
        self.redirectURI = redirectURI
        self.sockets = sockets
        self.wait = wait
        self.connections = connections
    }

    /// Listens on the first free port that `uri` lists, or on any free port if it lists none.
    package static func listen(at uri: LoopbackRedirectURI = .standard) async throws(SignInError) -> LoopbackReceiver {
        let wait = CallbackWait()
        let connections = ReceiverConnections()
        let sockets = try await LoopbackSockets.open(for: uri) { channel, port in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                // The handler responds to the first request only and ignores pipelined requests.
                try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
                try pipeline.addHandler(ConnectionTimeLimit(LoopbackRequestHandler.timeLimit))
                try pipeline.addHandler(LoopbackRequestHandler(uri: uri, port: port, wait: wait))
                connections.add(channel)
            }
        }
        do {
            let redirectURI = try uri.redirectURI(port: sockets.port)
            return LoopbackReceiver(
                redirectURI: redirectURI, sockets: sockets.channels, wait: wait, connections: connections)
        } catch {
            throw .cannotListen("\(error)")
        }
    }

    /// Closes the port and every connection to it; returns when the port is free again.
    ///
    /// If no callback was accepted, open connections receive a page that says that the sign-in has ended.
    package func close() async {
        wait.end(with: .cancelled)
        let isAborted = wait.end == .aborted
        // Before closing the sockets, wait briefly until connections in the backlog are accepted, so that they
        // receive the page too.
        if isAborted { try? await sockets.first?.eventLoop.scheduleTask(in: Self.backlogPause) {}.futureResult.get() }
        for socket in sockets {
            try? await socket.close().get()
        }
        if isAborted { await connections.drain(within: Self.drainTimeout) }
        await connections.closeAll()
    }

    private static let backlogPause = TimeAmount.milliseconds(5)
    private static let drainTimeout = TimeAmount.milliseconds(500)
}

public import CounterfoilProtocol
import NIOCore
import NIOHTTP1

/// Takes the answer on a port of the device itself.
///
/// RFC 8252 §7.3 and §8.3. It listens on loopback only, on the same port of 127.0.0.1 and of ::1 where there are both, from
/// ``listen(at:)`` until ``close()`` and not longer. One answer is accepted; everything else is turned away without ending
/// the wait, and a silent connection is in nobody's way.
public final class LoopbackReceiver: RedirectReceiver {
    /// The redirect URI with the port that was taken.
    public let redirectURI: RedirectURI
    private let sockets: [any Channel]
    private let wait: CallbackWait
    private let connections: OpenConnections

    private init(
        redirectURI: RedirectURI, sockets: [any Channel], wait: CallbackWait, connections: OpenConnections
    ) {
        self.redirectURI = redirectURI
        self.sockets = sockets
        self.wait = wait
        self.connections = connections
    }

    /// Opens the port and begins to listen.
    public static func listen(at address: LoopbackAddress = .standard) async throws(SignInError) -> LoopbackReceiver {
        let wait = CallbackWait()
        let connections = OpenConnections()
        let sockets = try await LoopbackSockets.open(for: address) { channel, port in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                // One request is answered, whatever else is in the pipeline.
                try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
                try pipeline.addHandler(LoopbackRequestHandler(address: address, port: port, wait: wait))
                connections.add(channel)
            }
        }
        do {
            let redirectURI = try address.redirectURI(port: sockets.port)
            return LoopbackReceiver(
                redirectURI: redirectURI, sockets: sockets.channels, wait: wait, connections: connections)
        } catch {
            throw .cannotListen("\(error)")
        }
    }

    /// Says what to wait for; before this, everything that arrives is turned away.
    public func expect(_ expectation: CallbackExpectation) {
        wait.expect(expectation)
    }

    /// Waits for the answer; when it does not come in time, or nobody waits any more, the port is closed.
    public func callback(within timeout: Duration = .seconds(300)) async throws(SignInError) -> AuthorizationCallback {
        try await wait.callback(within: timeout, orClose: close)
    }

    /// Closes the port and every connection to it; returns when the port is free again.
    ///
    /// Without an answer, a browser that is just bringing something hears that nobody waits any more.
    public func close() async {
        wait.end(with: .cancelled)
        let isGivenUp = wait.end == .givenUp
        // Who has knocked already is let in before the door closes.
        if isGivenUp { try? await sockets.first?.eventLoop.scheduleTask(in: Self.lastCall) {}.futureResult.get() }
        for socket in sockets {
            try? await socket.close().get()
        }
        if isGivenUp { await connections.sayFarewell(within: Self.grace) }
        await connections.closeAll()
    }

    private static let lastCall = TimeAmount.milliseconds(5)
    private static let grace = TimeAmount.milliseconds(500)
}

package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The service that accepts connections at one or several addresses.
///
/// On a graceful shutdown, it stops accepting connections. The requests that have begun are answered, each connection
/// closes after its response, and the service ends with the last one, or at the deadline.
package struct Listener: Service {
    private let addresses: [ListeningAddress]
    private let child: ConnectionChannel
    private let stop: StopLimits
    private let deadline: StopDeadline?
    private let logger: Logger
    private let onListening: @Sendable ([BoundAddress]) async -> Void

    /// The maximum number of connections that wait in the kernel to be accepted; `net.core.somaxconn` can lower it.
    private static let backlog: CInt = 2048

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - addresses: The addresses to listen at.
    ///   - responder: The responder of the requests.
    ///   - connections: The registry of the open connections.
    ///   - certificate: The certificate for TLS (RFC 8446) at TCP ports; nil for plain HTTP.
    ///   - stop: The limits of the graceful shutdown.
    ///   - deadline: The end of the stop that all listeners share; nil for none.
    ///   - logger: The logger of the service.
    ///   - onListening: A function that is called once, with each address and its port, if it has one.
    package init(
        at addresses: [ListeningAddress], answering responder: CurrentResponder, connections: OpenConnections,
        certificate: CurrentCertificate? = nil, stop: StopLimits, deadline: StopDeadline? = nil, logger: Logger,
        onListening: @escaping @Sendable ([BoundAddress]) async -> Void
    ) {
        self.addresses = addresses
        child = ConnectionChannel(responder: responder, connections: connections, certificate: certificate)
        self.stop = stop
        self.deadline = deadline
        self.logger = logger
        self.onListening = onListening
    }

    private struct Bound {
        let channel: any Channel
        /// The socket, if no other process has it, so that waiting connections end with it.
        var ownDescriptor: Int32?
        var socket: UnixSocket?
    }

    package func run() async throws {
        let watch = child.connections.pauses.start()
        defer { watch.stop() }
        var bound: [Bound] = []
        var boundAddresses: [BoundAddress] = []
        do {
            for address in addresses {
                do {
                    let sockets = try await listen(at: address)
                    bound += sockets
                    boundAddresses.append(
                        BoundAddress(address: address, port: sockets.first?.channel.localAddress?.port))
                } catch {
                    throw ListeningFailure(address: address, cause: error)
                }
            }
        } catch {
            await close(bound)
            throw error
        }
        await onListening(boundAddresses)

        let channels = bound.map(\.channel)
        await cancelWhenGracefulShutdown {
            // A listener that fails, for example without descriptors, does not end.
            try? await waitForCancellation(of: channels)
        }
        await stopAccepting(bound)
        await drain()
    }

    /// Waits until the task is cancelled, or until each channel has closed.
    private func waitForCancellation(of channels: [any Channel]) async throws {
        guard let loop = channels.first?.eventLoop else { return }
        let end = loop.makePromise(of: Void.self)
        EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: loop).cascade(to: end)
        try await withTaskCancellationHandler {
            try await end.futureResult.get()
        } onCancel: {
            end.succeed()
        }
    }

    // MARK: - Listening

    private func listen(at address: ListeningAddress) async throws -> [Bound] {
        let bootstrap = bootstrap(for: address)
        switch address.kind {
        case .host(let host, let port):
            var bound: [Bound] = []
            for descriptor in try ListeningDescriptor.bound(to: host, port: port) {
                bound.append(Bound(channel: try await adopt(descriptor, with: bootstrap), ownDescriptor: descriptor))
            }
            return bound
        case .unixSocket(let path):
            let socket = try UnixSocket(at: path, backlog: Self.backlog)
            return [
                Bound(
                    channel: try await adopt(socket.descriptor, with: bootstrap), ownDescriptor: socket.descriptor,
                    socket: socket)
            ]
        case .descriptor(let descriptor, _, _):
            return [Bound(channel: try await adopt(descriptor, with: bootstrap))]
        }
    }

    private func adopt(_ descriptor: Int32, with bootstrap: ServerBootstrap) async throws -> any Channel {
        let channel = try await bootstrap.withBoundSocket(descriptor).get()
        // The bootstrap has set a small backlog.
        ListeningDescriptor.setBacklog(of: descriptor, to: Self.backlog)
        return channel
    }

    private func bootstrap(for address: ListeningAddress) -> ServerBootstrap {
        let (child, connections) = (child, child.connections)
        let isUnixSocket = address.isUnixSocket
        return ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.maxMessagesPerRead, value: 16)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptHandler(connections, isUnixSocket: isUnixSocket))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in child.setUp(channel, isUnixSocket: isUnixSocket) }
    }

    // MARK: - Stopping

    /// Stops accepting connections, and closes the listeners when every accepted connection has its handlers.
    ///
    /// A listener that closes earlier would close such a connection, too. Connections that wait in a socket of the
    /// service manager are accepted by the next process. In a socket of this process they would be reset, and a proxy
    /// would not know whether the server had their requests; so these are accepted before.
    private func stopAccepting(_ bound: [Bound]) async {
        for one in bound {
            one.socket?.remove()
            let end = ContinuousClock.now + Self.longestAccepting
            if let descriptor = one.ownDescriptor, one.socket == nil {
                ListeningDescriptor.ignoreNewConnections(at: descriptor)
                try? await one.channel.eventLoop.scheduleTask(in: Self.longestHandshake) {}.futureResult.get()
            }
            repeat { await stopAccepting(at: one.channel) } while await hasAccepted(at: one, until: end)
            try? await one.channel.close().get()
        }
    }

    /// The time in which the handshakes that have begun are completed.
    private static let longestHandshake = TimeAmount.milliseconds(100)
    /// The maximum time for which connections are accepted that arrive while a listener stops.
    private static let longestAccepting = Duration.seconds(1)

    /// Accepts the connections that wait, if there are any and their time has not ended.
    private func hasAccepted(at one: Bound, until end: ContinuousClock.Instant) async -> Bool {
        guard let descriptor = one.ownDescriptor, .now < end, ListeningDescriptor.hasWaiting(descriptor) else {
            return false
        }
        one.channel.pipeline.fireUserInboundEventTriggered(AcceptHandler.Accepting.resume)
        try? await one.channel.setOption(.autoRead, value: true).get()
        // The event loop accepts when it looks for events again, after this task.
        try? await one.channel.eventLoop.scheduleTask(in: .milliseconds(1)) {}.futureResult.get()
        return true
    }

    private func stopAccepting(at channel: any Channel) async {
        try? await channel.setOption(.autoRead, value: false).get()
        channel.pipeline.fireUserInboundEventTriggered(AcceptHandler.Accepting.stop)
        // The handlers of a connection are added on its event loop, and then it passes the listener.
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            try? await loop.submit {}.hop(to: channel.eventLoop).get()
        }
    }

    private func close(_ bound: [Bound]) async {
        for one in bound {
            one.socket?.remove()
            try? await one.channel.close().get()
        }
    }

    /// Waits until the last request is answered, at most for the patience of the limits and until the deadline.
    private func drain() async {
        let connections = child.connections
        connections.beginDraining()
        connections.endIdle()
        await withTaskGroup(of: Void.self) { group in
            let end = deadline?.end(within: stop.patience) ?? .now + stop.patience
            group.addTask { [logger] in
                do { try await Task.sleep(until: end, clock: .continuous) } catch {
                    // The last connection has closed, or the service was cancelled.
                    if connections.isEmpty { return }
                }
                logger.warning("closed connections at the deadline of the stop")
                connections.closeAll()
            }
            await connections.allClosed()
            group.cancelAll()
        }
    }
}

/// An error that prevents listening at an address.
package struct ListeningFailure: Error, CustomStringConvertible {
    package let address: ListeningAddress
    /// The error of the system, or one of the Unix socket, which is written for the operator.
    package let cause: any Error

    package var description: String { "cannot listen on \(address): \(cause)" }
}

/// An address at which a server listens, with the port that it has.
package struct BoundAddress: Sendable {
    package let address: ListeningAddress
    /// The TCP port; nil for a Unix socket.
    package let port: Int?
}

extension BoundAddress {
    /// The host of a TCP port; nil for other sockets.
    package var host: String? {
        guard case .host(let host, _) = address.kind else { return nil }
        return host
    }

    /// The address in a sentence.
    package var sentence: String {
        guard case .host(let host, let port) = address.kind else { return "\(address)" }
        return "\(host) port \(self.port ?? port)"
    }
}

#if os(Linux)
    public import CounterfoilProtocol
    public import Foundation
    import NIOCore
    import NIOPosix

    /// Takes the answer through a scheme of the application's own, on a Linux desktop.
    ///
    /// RFC 8252 §7.1. From ``listen(at:handler:environment:)`` until ``close()`` a desktop entry and the person's choice for
    /// the scheme lead to this program (`$XDG_DATA_HOME/applications`, `mimeapps.list`); what was chosen before is chosen
    /// again afterwards. The desktop starts the program once more with the address, and ``RedirectHandoff`` brings it here
    /// through a socket that only this person can reach. Another answer than the expected one does not end the wait.
    ///
    /// A system can start any program for a scheme; a code that another one gets is of no use to it without the verifier
    /// (RFC 8252 §8.1).
    public final class CustomSchemeReceiver: RedirectReceiver {
        /// The redirect URI, as it is registered.
        public let redirectURI: RedirectURI
        private let scheme: String
        private let registry: SchemeRegistry
        private let folder: SocketFolder
        private let name: String
        private let socket: any Channel
        private let wait: CallbackWait
        private let connections: OpenConnections

        private init(
            _ address: CustomSchemeAddress, registry: SchemeRegistry, folder: SocketFolder, name: String,
            socket: any Channel, wait: CallbackWait, connections: OpenConnections
        ) {
            redirectURI = address.redirectURI
            scheme = address.scheme
            self.registry = registry
            self.folder = folder
            self.name = name
            self.socket = socket
            self.wait = wait
            self.connections = connections
        }

        /// Opens the socket, and tells the desktop which program takes the scheme.
        ///
        /// `environment` says where the desktop looks: `HOME` and the variables of the XDG base directories.
        public static func listen(
            at address: CustomSchemeAddress,
            handler: RedirectHandler = .thisProgram,
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) async throws(SignInError) -> CustomSchemeReceiver {
            let folders: DesktopFolders
            do { folders = try DesktopFolders(environment: environment) } catch {
                throw .cannotListen("the environment names no HOME, so there is no desktop to tell about the scheme")
            }
            let (wait, connections) = (CallbackWait(), OpenConnections())
            do {
                let folder = try openFolder(folders)
                let (socket, name) = try await serve(address, in: folder, wait: wait, connections: connections)
                let receiver = CustomSchemeReceiver(
                    address, registry: SchemeRegistry(folders: folders), folder: folder, name: name, socket: socket,
                    wait: wait, connections: connections)
                do {
                    try receiver.registry.register(address.scheme, to: handler, in: folder)
                } catch {
                    await receiver.close()
                    throw error
                }
                return receiver
            } catch {
                throw .cannotListen("the desktop cannot be told about the scheme \(address.scheme): \(error)")
            }
        }

        /// Says what to wait for; before this, everything that arrives is turned away.
        public func expect(_ expectation: CallbackExpectation) {
            wait.expect(expectation)
        }

        /// Waits for the answer; when it does not come in time, or nobody waits any more, the scheme is given back.
        public func callback(
            within timeout: Duration = .seconds(300)
        ) async throws(SignInError) -> AuthorizationCallback {
            try await wait.callback(within: timeout, orClose: close)
        }

        /// Gives the scheme back, unless another program of this person waits for it too.
        public func close() async {
            wait.end(with: .cancelled)
            folder.remove(name)
            try? await socket.close().get()
            registry.unregister(scheme)
            if wait.end == .givenUp { await connections.sayFarewell(within: .milliseconds(500)) }
            await connections.closeAll()
        }

        /// Opens a socket, and lets it be found as soon as it answers.
        private static func serve(
            _ address: CustomSchemeAddress, in folder: SocketFolder, wait: CallbackWait, connections: OpenConnections
        ) async throws -> (socket: any Channel, name: String) {
            let (descriptor, hidden) = try folder.bind()
            let socket = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { connection in
                    connection.eventLoop.makeCompletedFuture {
                        let handler = HandoffConnection(redirectURI: address.redirectURI, wait: wait)
                        try connection.pipeline.syncOperations.addHandler(handler)
                        connections.add(connection)
                    }
                }
                .withBoundSocket(descriptor).get()
            do {
                return (socket, try folder.publish(hidden, of: address.scheme))
            } catch {
                try? await socket.close().get()
                folder.remove(hidden)
                throw error
            }
        }

        /// The first folder for sockets that can be had.
        private static func openFolder(_ folders: DesktopFolders) throws(FileFailure) -> SocketFolder {
            var failure: FileFailure?
            for path in folders.sockets {
                // The system makes the places for sockets, and only the cache is the person's to make.
                let place = String(path.dropLast("/counterfoil".count))
                guard path == folders.sockets.last || FileManager.default.fileExists(atPath: place) else { continue }
                do { return try SocketFolder(path, making: true) } catch { failure = failure ?? error }
            }
            throw failure ?? FileFailure("/", "there is no place for a socket")
        }
    }
#endif

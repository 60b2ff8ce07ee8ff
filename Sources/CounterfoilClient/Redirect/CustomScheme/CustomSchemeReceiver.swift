#if os(Linux)
    public import CounterfoilProtocol
    public import Foundation
    import NIOCore
    import NIOPosix

    /// A receiver for callbacks to a private-use URI scheme on a Linux desktop (RFC 8252 §7.1).
    ///
    /// From ``listen(at:handler:environment:)`` until ``close()``, this program is registered with the desktop
    /// as the default application for the scheme. The registration consists of a desktop entry in
    /// `$XDG_DATA_HOME/applications` and an entry in the user's `mimeapps.list`. ``close()`` restores the
    /// previous default application.
    ///
    /// For each callback, the desktop starts a second process of the program with the callback URL. In that
    /// process, ``RedirectHandoff`` passes the URL to this receiver through a socket that only this user can
    /// access. An unexpected callback does not end the wait.
    ///
    /// Another program can register the same scheme and receive the callback. It cannot use the code without the
    /// code verifier (RFC 8252 §8.1).
    public final class CustomSchemeReceiver: RedirectReceiver, WaitingReceiver {
        /// The redirect URI with the private-use scheme, as registered at the server.
        public let redirectURI: RedirectURI
        private let scheme: String
        private let registry: SchemeRegistry
        private let folder: SocketFolder
        private let name: String
        private let socket: any Channel
        let wait: CallbackWait
        private let connections: ReceiverConnections

        private init(
            _ uri: CustomSchemeRedirectURI, registry: SchemeRegistry, folder: SocketFolder, name: String,
            socket: any Channel, wait: CallbackWait, connections: ReceiverConnections
        ) {
            redirectURI = uri.redirectURI
            scheme = uri.scheme
            self.registry = registry
            self.folder = folder
            self.name = name
            self.socket = socket
            self.wait = wait
            self.connections = connections
        }

        /// Opens a Unix socket for callbacks, and registers `handler` with the desktop as the program for the scheme.
        ///
        /// `environment` provides `HOME` and the variables of the XDG base directories.
        public static func listen(
            at uri: CustomSchemeRedirectURI,
            handler: RedirectHandler = .thisProgram,
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) async throws(SignInError) -> CustomSchemeReceiver {
            let folders: DesktopFolders
            do { folders = try DesktopFolders(environment: environment) } catch {
                throw .cannotListen("HOME is not set, so the scheme cannot be registered with the desktop")
            }
            let (wait, connections) = (CallbackWait(), ReceiverConnections())
            do {
                let folder = try openFolder(folders)
                let (socket, name) = try await serve(uri, in: folder, wait: wait, connections: connections)
                let receiver = CustomSchemeReceiver(
                    uri, registry: SchemeRegistry(folders: folders), folder: folder, name: name, socket: socket,
                    wait: wait, connections: connections)
                do {
                    try receiver.registry.register(uri.scheme, to: handler, in: folder)
                } catch {
                    await receiver.close()
                    throw error
                }
                return receiver
            } catch {
                throw .cannotListen("the scheme \(uri.scheme) cannot be registered with the desktop: \(error)")
            }
        }

        /// Stops listening, and unregisters the scheme.
        ///
        /// The scheme stays registered while another program of this user waits for callbacks to the same scheme.
        public func close() async {
            wait.end(with: .cancelled)
            folder.remove(name)
            try? await socket.close().get()
            registry.unregister(scheme)
            if wait.end == .aborted { await connections.drain(within: .milliseconds(500)) }
            await connections.closeAll()
        }

        /// Listens on a new socket, and then renames the socket so that ``RedirectHandoff`` finds it by its scheme.
        private static func serve(
            _ uri: CustomSchemeRedirectURI, in folder: SocketFolder, wait: CallbackWait,
            connections: ReceiverConnections
        ) async throws -> (socket: any Channel, name: String) {
            let (descriptor, hidden) = try folder.bind()
            let socket = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { connection in
                    connection.eventLoop.makeCompletedFuture {
                        let pipeline = connection.pipeline.syncOperations
                        try pipeline.addHandler(ConnectionTimeLimit(HandoffConnection.timeLimit))
                        try pipeline.addHandler(HandoffConnection(redirectURI: uri.redirectURI, wait: wait))
                        connections.add(connection)
                    }
                }
                .withBoundSocket(descriptor).get()
            do {
                return (socket, try folder.publish(hidden, of: uri.scheme))
            } catch {
                try? await socket.close().get()
                folder.remove(hidden)
                throw error
            }
        }

        /// Opens the first usable folder for sockets.
        private static func openFolder(_ folders: DesktopFolders) throws(FileFailure) -> SocketFolder {
            var failure: FileFailure?
            for path in folders.sockets {
                // The last path is in the user's cache directory, which is created if it is missing. The other paths
                // are used only if the system has created their parent directories.
                let place = String(path.dropLast("/counterfoil".count))
                guard path == folders.sockets.last || FileManager.default.fileExists(atPath: place) else { continue }
                do { return try SocketFolder(path, making: true) } catch { failure = failure ?? error }
            }
            throw failure ?? FileFailure("/", "there is no folder for a socket")
        }
    }
#endif

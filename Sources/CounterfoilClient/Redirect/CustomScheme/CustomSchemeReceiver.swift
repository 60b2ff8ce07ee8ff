#if os(Linux)
    public import CounterfoilProtocol
    public import CounterfoilPlatform

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
        let wait: CallbackWait
        private let server: ConnectionServer

        private init(
            _ uri: CustomSchemeRedirectURI, registry: SchemeRegistry, folder: SocketFolder, name: String,
            wait: CallbackWait, server: ConnectionServer
        ) {
            redirectURI = uri.redirectURI
            scheme = uri.scheme
            self.registry = registry
            self.folder = folder
            self.name = name
            self.wait = wait
            self.server = server
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
            let result = await DetachedThread.result {
                Result { () throws(FileFailure) in try register(uri, handler: handler, folders: folders) }
            }
            do { return try result.get() } catch {
                throw .cannotListen("the scheme \(uri.scheme) cannot be registered with the desktop: \(error)")
            }
        }

        /// Stops listening, and unregisters the scheme.
        ///
        /// The scheme stays registered while another program of this user waits for callbacks to the same scheme.
        public func close() async {
            wait.end(with: .cancelled)
            folder.remove(name)
            await server.close(draining: wait.end == .aborted ? .milliseconds(500) : .zero)
            // Another process may hold the lock of the desktop's files for a while.
            await DetachedThread.result { [registry, scheme] in registry.unregister(scheme) }
        }

        /// Opens the socket and registers the scheme; it may wait for the lock of the desktop's files.
        private static func register(
            _ uri: CustomSchemeRedirectURI, handler: RedirectHandler, folders: DesktopFolders
        ) throws(FileFailure) -> CustomSchemeReceiver {
            let folder = try openFolder(folders)
            let wait = CallbackWait()
            let (server, name) = try serve(uri, in: folder, wait: wait)
            let registry = SchemeRegistry(folders: folders)
            do throws(FileFailure) {
                try registry.register(uri.scheme, to: handler, in: folder)
            } catch {
                // `server` closes its socket when it is deallocated.
                folder.remove(name)
                registry.unregister(uri.scheme)
                throw error
            }
            return CustomSchemeReceiver(
                uri, registry: registry, folder: folder, name: name, wait: wait, server: server)
        }

        /// Listens on a new socket, and then renames the socket so that ``RedirectHandoff`` finds it by its scheme.
        private static func serve(
            _ uri: CustomSchemeRedirectURI, in folder: SocketFolder, wait: CallbackWait
        ) throws(FileFailure) -> (server: ConnectionServer, name: String) {
            let (descriptor, hidden) = try folder.listen()
            do {
                let server = try ConnectionServer(
                    [descriptor], responder: HandoffResponder(redirectURI: uri.redirectURI, wait: wait))
                return (server, try folder.publish(hidden, of: uri.scheme))
            } catch {
                folder.remove(hidden)
                throw error as? FileFailure ?? FileFailure(folder.path, "\(error)")
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

package import CounterfoilProtocol

/// A receiver for callbacks on a loopback port (RFC 8252 §7.3 and §8.3).
///
/// The receiver listens on loopback only, from ``listen(at:)`` until ``close()``. If the device has both
/// 127.0.0.1 and ::1, the receiver uses the same port on both. It accepts only the expected callback, once. It
/// rejects any other request and continues to wait. An idle connection does not block other connections. On Linux, it
/// rejects a callback from a process of another user (``PeerCheck``).
package final class LoopbackReceiver: RedirectReceiver, WaitingReceiver {
    /// The redirect URI with the port in use.
    package let redirectURI: RedirectURI
    let wait: CallbackWait
    private let start: StartRedirect
    private let server: ConnectionServer

    private init(redirectURI: RedirectURI, wait: CallbackWait, start: StartRedirect, server: ConnectionServer) {
        self.redirectURI = redirectURI
        self.wait = wait
        self.start = start
        self.server = server
    }

    /// Listens on the first free port that `uri` lists, or on any free port if it lists none.
    package static func listen(at uri: LoopbackRedirectURI = .standard) async throws(SignInError) -> LoopbackReceiver {
        try await listen(at: uri, peers: .ofThisProcess)
    }

    /// Listens with a check of the users who connect.
    static func listen(
        at uri: LoopbackRedirectURI = .standard, peers: PeerCheck
    ) async throws(SignInError) -> LoopbackReceiver {
        let sockets = try LoopbackSockets.open(for: uri)
        let (wait, start) = (CallbackWait(), StartRedirect())
        let server: ConnectionServer
        do throws(SystemCallError) {
            server = try ConnectionServer(
                sockets.descriptors,
                responder: LoopbackResponder(uri: uri, port: sockets.port, wait: wait, start: start, peers: peers))
        } catch { throw .cannotListen("\(error)") }
        do throws(RedirectURI.Refusal) {
            let redirectURI = try uri.redirectURI(port: sockets.port)
            return LoopbackReceiver(redirectURI: redirectURI, wait: wait, start: start, server: server)
        } catch { throw .cannotListen("\(error)") }
    }

    /// Returns a new URL on the port of the receiver; an earlier one stops working.
    package func startURL(for url: BrowserURL) -> LocalStartURL? {
        guard let host = redirectURI.uri.host, let port = redirectURI.uri.port else { return nil }
        return try? LocalStartURL("http://\(host):\(port)\(start.prepare(for: url))", leadingTo: url)
    }

    /// Closes the port and every connection to it; returns when the port is free again.
    ///
    /// If no callback was accepted, open connections receive a page that says that the sign-in has ended.
    package func close() async {
        wait.end(with: .cancelled)
        await server.close(draining: wait.end == .aborted ? .milliseconds(500) : .zero)
    }
}

package import CounterfoilProtocol

/// A receiver for callbacks on a loopback port (RFC 8252 §7.3 and §8.3).
///
/// The receiver listens on loopback only, from ``listen(at:)`` until ``close()``. If the device has both
/// 127.0.0.1 and ::1, the receiver uses the same port on both. It accepts only the expected callback, once. It
/// rejects any other request and continues to wait. An idle connection does not block other connections.
package final class LoopbackReceiver: RedirectReceiver, WaitingReceiver {
    /// The redirect URI with the port in use.
    package let redirectURI: RedirectURI
    let wait: CallbackWait
    private let server: ConnectionServer

    private init(redirectURI: RedirectURI, wait: CallbackWait, server: ConnectionServer) {
        self.redirectURI = redirectURI
        self.wait = wait
        self.server = server
    }

    /// Listens on the first free port that `uri` lists, or on any free port if it lists none.
    package static func listen(at uri: LoopbackRedirectURI = .standard) async throws(SignInError) -> LoopbackReceiver {
        let sockets = try LoopbackSockets.open(for: uri)
        let wait = CallbackWait()
        let server: ConnectionServer
        do throws(SystemCallError) {
            server = try ConnectionServer(
                sockets.descriptors, responder: LoopbackResponder(uri: uri, port: sockets.port, wait: wait))
        } catch { throw .cannotListen("\(error)") }
        do throws(RedirectURI.Refusal) {
            let redirectURI = try uri.redirectURI(port: sockets.port)
            return LoopbackReceiver(redirectURI: redirectURI, wait: wait, server: server)
        } catch { throw .cannotListen("\(error)") }
    }

    /// Closes the port and every connection to it; returns when the port is free again.
    ///
    /// If no callback was accepted, open connections receive a page that says that the sign-in has ended.
    package func close() async {
        wait.end(with: .cancelled)
        await server.close(draining: wait.end == .aborted ? .milliseconds(500) : .zero)
    }
}

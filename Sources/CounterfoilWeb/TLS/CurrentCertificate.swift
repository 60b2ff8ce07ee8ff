import CounterfoilProtocol
import Foundation
import NIOSSL

/// The certificate that new connections of a running server get.
///
/// A connection keeps the certificate with which it began, so replacing it ends none.
public final class CurrentCertificate: Sendable {
    private struct State {
        var certificate: ServerCertificate
        var failures = 0
    }

    private let state: Mutex<State>

    /// Creates the certificate for the first connections.
    public init(_ certificate: ServerCertificate) { state = Mutex(State(certificate: certificate)) }

    /// Replaces the certificate for the next connections.
    public func replace(by certificate: ServerCertificate) { state.withLock { $0.certificate = certificate } }

    /// Counts a new certificate that was refused, for the metrics; the current one stays in use.
    public func noteFailure() { state.withLock { $0.failures += 1 } }

    var context: NIOSSLContext { state.withLock { $0.certificate.context } }

    /// The values that the metrics show.
    var snapshot: (expires: Date, failures: Int) { state.withLock { ($0.certificate.expires, $0.failures) } }
}

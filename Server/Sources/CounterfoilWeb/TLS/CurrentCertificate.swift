@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import NIOSSL

/// The certificate that new connections of a running server get.
///
/// A connection keeps the certificate with which it began, so replacing it ends none.
public final class CurrentCertificate: Sendable {
    private struct State {
        var certificate: ServerCertificate?
        /// The context until there is a certificate.
        var provisional: NIOSSLContext?
        var failures = 0
        var isRefused = false
        var orderFailures: Int?
        var failedOrdersInRow = 0
    }

    private let state: Mutex<State>
    /// The challenges that connections can ask for; nil if the certificate is not ordered from an authority.
    package let challenges: PendingChallenges?

    /// Creates the certificate for the first connections.
    public init(_ certificate: ServerCertificate) {
        state = Mutex(State(certificate: certificate))
        challenges = nil
    }

    /// Creates a place for a certificate that is ordered from an authority.
    ///
    /// - Parameter challenges: The challenges that the authority validates, by connections to the same listener.
    package init(answering challenges: PendingChallenges) {
        state = Mutex(State(orderFailures: 0))
        self.challenges = challenges
    }

    /// Replaces the certificate for the next connections.
    public func replace(by certificate: ServerCertificate) {
        state.withLock { state in
            state.certificate = certificate
            state.isRefused = false
            state.provisional = nil
        }
    }

    /// Counts a new certificate that was refused, for the metrics; the current one stays in use.
    public func noteFailure() {
        state.withLock { state in
            state.failures += 1
            state.isRefused = true
        }
    }

    /// Counts an order that has failed, for the metrics.
    func noteFailedOrder() { state.withLock { $0.orderFailures = ($0.orderFailures ?? 0) + 1 } }

    /// Sets the number of orders that have failed since the last one that succeeded, for the metrics.
    func show(failedOrdersInRow count: Int) { state.withLock { $0.failedOrdersInRow = count } }

    /// The TLS context of the certificate; nil as long as there is none.
    var context: NIOSSLContext? { state.withLock { $0.certificate?.context } }

    /// Whether a certificate is ordered, and clients get one that they refuse until it is there.
    package var isProvisional: Bool { challenges != nil && context == nil }

    /// The TLS context for clients.
    ///
    /// Until an ordered certificate is there, it is that of a ``ProvisionalCertificate``.
    var contextForClients: NIOSSLContext? {
        state.withLock { state in
            if let certificate = state.certificate { return certificate.context }
            if state.provisional == nil, challenges != nil { state.provisional = try? ProvisionalCertificate.context() }
            return state.provisional
        }
    }

    /// The values that the metrics show.
    struct Snapshot: Sendable {
        /// The start of the certificate; nil if there is none yet.
        let starts: Date?
        /// The end of the certificate; nil if there is none yet.
        let expires: Date?
        /// Whether a new certificate was refused, and none was accepted since then.
        let isRefused: Bool
        /// The number of new certificates that were refused.
        let failures: Int
        /// The number of orders that have failed; nil if none is ordered.
        let orderFailures: Int?
        /// The number of orders on any server that have failed since the last one that succeeded; nil if none is
        /// ordered.
        let failedOrdersInRow: Int?
    }

    var snapshot: Snapshot {
        state.withLock { state in
            Snapshot(
                starts: state.certificate?.starts, expires: state.certificate?.expires, isRefused: state.isRefused,
                failures: state.failures, orderFailures: state.orderFailures,
                failedOrdersInRow: challenges == nil ? nil : state.failedOrdersInRow)
        }
    }
}

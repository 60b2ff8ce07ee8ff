package import Foundation
import NIOConcurrencyHelpers
package import NIOSSL

/// The certificate that new connections of a running server get.
///
/// A connection keeps the certificate with which it began, so replacing it ends none.
package final class CurrentCertificate: Sendable {
    private struct State {
        var certificate: ServerCertificate?
        /// The context until there is a certificate.
        var provisional: NIOSSLContext?
        var failures = 0
        var isRefused = false
    }

    private let state: NIOLockedValueBox<State>
    /// The validation that connections can ask for; nil if the certificate is not ordered from an authority.
    let validation: TLSValidation?

    /// Creates the certificate for the first connections.
    package init(_ certificate: ServerCertificate) {
        state = NIOLockedValueBox(State(certificate: certificate))
        validation = nil
    }

    /// Creates a place for a certificate that is ordered from an authority.
    ///
    /// - Parameter validation: The answers to the authority, which connects to the same listener.
    package init(answering validation: TLSValidation) {
        state = NIOLockedValueBox(State())
        self.validation = validation
    }

    /// Replaces the certificate for the next connections.
    package func replace(by certificate: ServerCertificate) {
        state.withLockedValue { state in
            state.certificate = certificate
            state.isRefused = false
            state.provisional = nil
        }
    }

    /// Counts a new certificate that was refused, for the metrics; the current one stays in use.
    package func noteFailure() {
        state.withLockedValue { state in
            state.failures += 1
            state.isRefused = true
        }
    }

    /// The TLS context of the certificate; nil as long as there is none.
    package var context: NIOSSLContext? { state.withLockedValue { $0.certificate?.context } }

    /// Whether a certificate is ordered, and clients get one that they refuse until it is there.
    package var isProvisional: Bool { validation != nil && context == nil }

    /// The TLS context for clients.
    ///
    /// Until an ordered certificate is there, it is that of a ``ProvisionalCertificate``.
    var contextForClients: NIOSSLContext? {
        state.withLockedValue { state in
            if let certificate = state.certificate { return certificate.context }
            if state.provisional == nil, let validation {
                state.provisional = try? ProvisionalCertificate.context(named: validation.provisionalName)
            }
            return state.provisional
        }
    }

    /// The values that the metrics show.
    package struct Snapshot: Sendable {
        /// The start of the certificate; nil if there is none yet.
        package let starts: Date?
        /// The end of the certificate; nil if there is none yet.
        package let expires: Date?
        /// Whether a new certificate was refused, and none was accepted since then.
        package let isRefused: Bool
        /// The number of new certificates that were refused.
        package let failures: Int
    }

    package var snapshot: Snapshot {
        state.withLockedValue { state in
            Snapshot(
                starts: state.certificate?.starts, expires: state.certificate?.expires, isRefused: state.isRefused,
                failures: state.failures)
        }
    }
}

/// The answers to an authority that validates a host by a TLS connection, such as `tls-alpn-01` (RFC 8737).
package struct TLSValidation: Sendable {
    /// The protocol that only the authority offers, and no other protocol beside it (RFC 7301).
    let applicationProtocol: String
    /// The name in the certificate that clients get as long as there is no other.
    let provisionalName: String
    /// Returns the TLS context for the validation of a host; nil if none is pending.
    let context: @Sendable (_ host: String) async -> NIOSSLContext?

    /// Creates the answers.
    ///
    /// - Parameters:
    ///   - applicationProtocol: The protocol that only the authority offers, and no other protocol beside it.
    ///   - provisionalName: The name in the certificate that clients get as long as there is no other.
    ///   - context: A function that returns the TLS context for the validation of a host; nil if none is pending.
    package init(
        applicationProtocol: String, provisionalName: String,
        context: @escaping @Sendable (_ host: String) async -> NIOSSLContext?
    ) {
        self.applicationProtocol = applicationProtocol
        self.provisionalName = provisionalName
        self.context = context
    }
}

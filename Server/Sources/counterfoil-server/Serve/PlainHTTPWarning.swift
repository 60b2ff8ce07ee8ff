import CounterfoilProtocol
import CounterfoilWeb
import HTTPListener

/// The warning about TCP ports that serve plain HTTP although the issuer is https.
///
/// Clients cannot use such a port, unless a proxy terminates TLS that the settings do not name. Only a proxy connects
/// to a Unix socket.
struct PlainHTTPWarning {
    let message = "serving plain HTTP for an https issuer, and no proxy is trusted"
    let advice = """
        set trusted-proxy to the proxy that terminates TLS, if it replaces X-Forwarded-For itself; or \
        tls-certificate and tls-key, or acme-contact
        """
    /// The addresses of the ports, separated by spaces.
    let listen: String

    /// Creates the warning; nil if the settings give no reason for it.
    init?(_ issuer: Issuer, hasCertificate: Bool, trustedProxies: TrustedProxies, listeners: [ListeningAddress]) {
        guard issuer.isSecure, !hasCertificate, trustedProxies == .none else { return nil }
        let ports = listeners.filter { !$0.isUnixSocket }
        guard !ports.isEmpty else { return nil }
        listen = ports.map { "\($0)" }.joined(separator: " ")
    }
}

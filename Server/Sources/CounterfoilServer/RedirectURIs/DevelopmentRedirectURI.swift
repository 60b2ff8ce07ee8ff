package import CounterfoilProtocol
package import CounterfoilStore

extension RedirectURI {
    /// Returns true if the URI is a development redirect URI of a client of a given type.
    ///
    /// A development redirect URI is an http loopback URI of a web or single-page client. It is for a program that
    /// runs on the developer's own device. Native clients have loopback URIs for another reason: they receive every
    /// response there (RFC 8252 §7.3).
    package func isForDevelopment(of type: ClientType) -> Bool {
        guard case .loopback = kind else { return false }
        return switch type {
        case .web, .singlePage: true
        case .native, .device, .service: false
        }
    }

    /// The host of a loopback URI with its port, such as `localhost:5173`; nil for other URIs.
    package var loopbackAuthority: String? {
        guard case .loopback(let host, let port) = kind else { return nil }
        return host.rawValue + (port.map { ":\($0)" } ?? "")
    }
}

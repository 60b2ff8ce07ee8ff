/// A place at which a server listens.
package struct ListeningAddress: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case host(String, port: Int)
        case unixSocket(path: String)
        case descriptor(Int32, isUnixSocket: Bool, name: String)
    }

    let kind: Kind

    /// A TCP port of an address of this machine; port 0 is any free port.
    package static func host(_ host: String, port: Int) -> ListeningAddress {
        ListeningAddress(kind: .host(host, port: port))
    }

    /// A Unix socket at an absolute path, for a reverse proxy on this machine.
    ///
    /// The user and the group of the process can connect to it. A connection is never TLS.
    package static func unixSocket(at path: String) -> ListeningAddress {
        ListeningAddress(kind: .unixSocket(path: path))
    }

    /// A socket that listens already, such as one of the service manager.
    ///
    /// The service owns the descriptor and closes it.
    ///
    /// - Parameters:
    ///   - descriptor: The file descriptor.
    ///   - isUnixSocket: Whether it is a Unix socket and not a TCP port.
    ///   - name: The name for messages.
    package static func descriptor(_ descriptor: Int32, isUnixSocket: Bool, name: String) -> ListeningAddress {
        ListeningAddress(kind: .descriptor(descriptor, isUnixSocket: isUnixSocket, name: name))
    }

    /// The address as in the options of the server.
    package var description: String {
        switch kind {
        case .host(let host, let port): "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unixSocket(let path): "unix:\(path)"
        case .descriptor(_, _, let name): "systemd:\(name)"
        }
    }

    /// The address with the port that a service has got.
    package func text(withPort port: Int?) -> String {
        guard case .host(let host, let wanted) = kind else { return description }
        return "\(ListeningAddress.host(host, port: port ?? wanted))"
    }

    /// Whether peers have no address of their own and connections are never TLS.
    package var isUnixSocket: Bool {
        switch kind {
        case .host: false
        case .unixSocket: true
        case .descriptor(_, let isUnixSocket, _): isUnixSocket
        }
    }
}

/// The limits of the graceful shutdown of a server.
package struct StopLimits: Sendable, Hashable {
    /// No delay, and 30 seconds for the requests that are being answered.
    package static let standard = StopLimits()
    /// The limits of a listener whose responses are short.
    package static let brief = StopLimits(patience: .seconds(1))

    /// The time in which the last requests are answered; then their connections are closed.
    package var patience: Duration

    /// Creates limits.
    package init(patience: Duration = .seconds(30)) { self.patience = patience }
}

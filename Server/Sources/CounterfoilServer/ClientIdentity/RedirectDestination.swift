import CounterfoilProtocol
import CounterfoilStore

/// The destination of the authorization response, in terms that a user can understand.
package enum RedirectDestination: Sendable, Hashable {
    /// A program on this computer, registered with a loopback IP address (RFC 8252 §7.3).
    case thisComputer(host: String)
    /// A program on this computer, registered with the name `localhost`, which need not resolve to a
    /// loopback address (RFC 8252 §8.3).
    case thisComputerByName
    /// A web or single-page client under development on this computer; `host` has the port, if there is one, as in
    /// `localhost:5173`.
    case development(host: String)
    /// The app that owns a private-use scheme (RFC 8252 §7.1).
    case app(scheme: String)
    /// A website, or an app that claimed one of its URLs (RFC 8252 §7.2).
    case website(host: String)
    /// A device that waits with a user code and gets its tokens without a redirect (RFC 8628).
    case waitingDevice(WaitingDevice)
}

/// A device that waits for the answer, in terms by which the user recognizes it (RFC 8628 §5.4).
package struct WaitingDevice: Sendable, Hashable {
    /// The code that the device shows, such as `WDJB-MJHT`.
    package var userCode: String
    /// The IP address of the device.
    package var source: String
    /// The common names of the program and the system of the device, such as "A program on Linux".
    package var program: String
    /// The time since the request of the device, such as "2 minutes ago".
    package var requested: String

    package init(userCode: String, source: String, program: String, requested: String) {
        self.userCode = userCode
        self.source = source
        self.program = program
        self.requested = requested
    }
}

extension RedirectDestination {
    init(_ uri: RedirectURI, of type: ClientType) {
        if uri.isForDevelopment(of: type), let host = uri.loopbackAuthority {
            self = .development(host: host)
            return
        }
        self =
            switch uri.kind {
            case .loopback(.localhost, _): .thisComputerByName
            case .loopback(let host, _): .thisComputer(host: host.rawValue)
            case .privateUseScheme(let scheme): .app(scheme: scheme)
            case .https(let host): .website(host: host)
            }
    }
}

extension RedirectDestination {
    /// The host or the scheme that gets the response; nil for a device, which gets none.
    var host: String? {
        switch self {
        case .thisComputer(let host), .development(let host), .website(let host): host
        case .thisComputerByName: "localhost"
        case .app(let scheme): scheme + ":"
        case .waitingDevice: nil
        }
    }

    /// Whether the response goes to a program on the device, at a loopback address (RFC 8252 §7.3).
    var isLoopback: Bool {
        switch self {
        case .thisComputer, .thisComputerByName, .development: true
        case .app, .website, .waitingDevice: false
        }
    }
}

import CounterfoilProtocol
import NIOCore
import NIOPosix

/// The listening sockets of one port on 127.0.0.1 and ::1, or on the only address family of the device.
///
/// Both addresses are bound, so that no other program can listen on the same port of one of them and receive
/// the callback (RFC 8252 §7.3). The sockets do not allow other sockets to bind the same address.
struct LoopbackSockets {
    let port: Int
    let channels: [any Channel]

    typealias ConnectionSetup = @Sendable (_ connection: any Channel, _ port: Int) -> EventLoopFuture<Void>

    private enum Family: String {
        case ipv4 = "127.0.0.1"
        case ipv6 = "::1"
    }

    /// Binds the first free port that the redirect URI lists, or any free port if it lists none.
    static func open(
        for uri: LoopbackRedirectURI,
        setUp: @escaping ConnectionSetup
    ) async throws(SignInError) -> LoopbackSockets {
        // A random port that is free in one address family may be in use in the other, so try up to 16 ports.
        let candidates = uri.ports.isEmpty ? Array(repeating: 0, count: 16) : uri.ports
        var reason = "no port is free"
        for candidate in candidates {
            guard (0...65535).contains(candidate) else {
                reason = "\(candidate) is not a port"
                continue
            }
            do {
                return try await open(candidate, for: uri.host, setUp: setUp)
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                reason = candidate == 0 ? reason : "another program uses port \(candidate)"
            } catch let error as IOError where [EACCES, EPERM].contains(error.errnoCode) {
                reason = "this user may not open port \(candidate)"
            } catch let error as IOError where isMissingFamily(error) {
                reason = "this device has no address \(uri.host.rawValue)"
            } catch {
                reason = "\(error)"
            }
        }
        throw .cannotListen(reason)
    }

    private static func open(
        _ candidate: Int, for host: LoopbackHost, setUp: @escaping ConnectionSetup
    ) async throws -> LoopbackSockets {
        let (first, second): (Family, Family) = host == .ipv6 ? (.ipv6, .ipv4) : (.ipv4, .ipv6)
        let channel: any Channel
        do {
            channel = try await bind(first, port: candidate, setUp: setUp)
        } catch let error as IOError where host == .localhost && isMissingFamily(error) {
            let only = try await bind(second, port: candidate, setUp: setUp)
            return LoopbackSockets(port: only.localAddress?.port ?? candidate, channels: [only])
        }
        let port = channel.localAddress?.port ?? candidate
        do {
            let other = try await bind(second, port: port, setUp: setUp)
            return LoopbackSockets(port: port, channels: [channel, other])
        } catch let error as IOError where isMissingFamily(error) {
            return LoopbackSockets(port: port, channels: [channel])
        } catch {
            try? await channel.close().get()
            throw error
        }
    }

    private static func bind(
        _ family: Family, port: Int, setUp: @escaping ConnectionSetup
    ) async throws -> any Channel {
        var bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 64)
            .childChannelInitializer { connection in setUp(connection, connection.localAddress?.port ?? port) }
        #if os(Linux)
            // On Linux, SO_REUSEADDR only allows binding a port while old connections are in TIME_WAIT. It
            // does not allow two programs to listen on the port at once.
            bootstrap = bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        #endif
        return try await bootstrap.bind(host: family.rawValue, port: port).get()
    }

    private static func isMissingFamily(_ error: IOError) -> Bool {
        [EADDRNOTAVAIL, EAFNOSUPPORT, EPROTONOSUPPORT].contains(error.errnoCode)
    }
}

import CounterfoilProtocol
import NIOCore
import NIOPosix

/// The listening sockets of one port: on 127.0.0.1 and on ::1, or on the one that the device has.
///
/// Both are taken, so that no other program can sit on the same port of the other family and get the answer
/// (RFC 8252 §7.3). Addresses are never shared with another socket.
struct LoopbackSockets {
    let port: Int
    let channels: [any Channel]

    typealias ConnectionSetup = @Sendable (_ connection: any Channel, _ port: Int) -> EventLoopFuture<Void>

    private enum Family: String {
        case ipv4 = "127.0.0.1"
        case ipv6 = "::1"
    }

    /// Takes the first of the address's ports, or any free one.
    static func open(
        for address: LoopbackAddress,
        setUp: @escaping ConnectionSetup
    ) async throws(SignInError) -> LoopbackSockets {
        // A random port that is free in one family may be taken in the other; then another one is tried.
        let candidates = address.ports.isEmpty ? Array(repeating: 0, count: 16) : address.ports
        var reason = "no port is free"
        for candidate in candidates {
            guard (0...65535).contains(candidate) else {
                reason = "\(candidate) is not a port"
                continue
            }
            do {
                return try await open(candidate, for: address.host, setUp: setUp)
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                reason = candidate == 0 ? reason : "another program uses port \(candidate)"
            } catch let error as IOError where [EACCES, EPERM].contains(error.errnoCode) {
                reason = "this user may not open port \(candidate)"
            } catch let error as IOError where isMissingFamily(error) {
                reason = "this device has no address \(address.host.rawValue)"
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
            // On Linux this only lets a fixed port be taken again while old connections to it fade out; it never lets two
            // programs listen at once.
            bootstrap = bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        #endif
        return try await bootstrap.bind(host: family.rawValue, port: port).get()
    }

    private static func isMissingFamily(_ error: IOError) -> Bool {
        [EADDRNOTAVAIL, EAFNOSUPPORT, EPROTONOSUPPORT].contains(error.errnoCode)
    }
}

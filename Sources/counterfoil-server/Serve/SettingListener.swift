import CounterfoilWeb
import Foundation
import NIOCore
import ServiceLifecycle

/// A listener of the server, whose failure to listen names the address and its setting.
struct SettingListener: Service {
    /// The option that names the address.
    let option: String
    let service: any Service

    /// Runs the service; throws ``CommandFailure`` if it cannot listen.
    func run() async throws {
        do { try await service.run() } catch { throw failure(for: error) ?? error }
    }

    private func failure(for error: any Error) -> CommandFailure? {
        guard let listening = error as? ListeningFailure else { return nil }
        let address = listening.address
        switch listening.cause {
        case let cause as IOError:
            return .temporary(
                "cannot listen on \(address) (\(String(cString: strerror(cause.errnoCode)))); "
                    + advice(for: cause.errnoCode))
        case is SocketAddressError.UnknownHost:
            return .refused(
                "cannot listen on \(address): unknown host; choose an address of this machine with \(option)")
        case let cause:
            return .refused("\(option) \(address): \(cause)")
        }
    }

    private func advice(for reason: CInt) -> String {
        switch reason {
        case EACCES: "choose a port above 1023 with \(option), or grant this user access to the port"
        case EADDRNOTAVAIL: "choose an address of this machine with \(option)"
        default: "stop the program that uses the port, or choose another one with \(option)"
        }
    }
}

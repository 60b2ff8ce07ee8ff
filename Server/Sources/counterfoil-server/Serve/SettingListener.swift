import CounterfoilWeb
import Foundation
import HTTPListener
import NIOCore
import ServiceLifecycle

/// A listener of the server, whose failure to listen names the address and its setting.
struct SettingListener: Service {
    /// The setting that names the address, as a part of a message.
    let setting: SettingMessage
    let words: SettingMessageRenderer
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
            let reason = String(cString: strerror(cause.errnoCode))
            return .temporary(
                words("cannot listen on \(address) (\(reason)); \(advice(for: cause.errnoCode))"))
        case is SocketAddressError.UnknownHost:
            return .refused(
                words("cannot listen on \(address): unknown host; choose an address of this machine with \(setting)"))
        case let cause:
            return .refused(words("\(setting) \(address): \(cause)"))
        }
    }

    private func advice(for reason: CInt) -> SettingMessage {
        switch reason {
        case EACCES: "choose a port above 1023 with \(setting), or grant this user access to the port"
        case EADDRNOTAVAIL: "choose an address of this machine with \(setting)"
        default: "stop the program that uses the port, or choose another one with \(setting)"
        }
    }
}

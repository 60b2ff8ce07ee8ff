public import Foundation

/// Hands the address that a desktop started this program with to the program that waits for it.
///
/// A ``CustomSchemeReceiver`` lets the desktop start its own executable a second time. Call this first in `main`, before
/// anything else looks at the arguments, and end when it answers:
///
///     if let outcome = RedirectHandoff.deliver() { exit(outcome.exitCode) }
///
/// Other programs of the same person can read the arguments of a program that runs (`/proc`), so a code is seen there for a
/// moment, as with every scheme on every desktop; it is of no use without the verifier (RFC 8252 §8.1). Nothing of the
/// address is ever written or logged.
public enum RedirectHandoff {
    /// The first argument, by which a program knows what it was started for.
    public static let command = "receive-redirect"

    /// What became of an address.
    public enum Outcome: Sendable, Hashable, CustomStringConvertible {
        /// The program that waited has it.
        case delivered
        /// Programs wait, and none of them for this answer.
        case ignored
        /// No program waits for an answer (RFC 8252 §8.9).
        case nobodyWaits
        /// The arguments are not an address that a desktop passes.
        case unusable

        /// What to tell the person; nothing of the address is in it.
        public var description: String {
            switch self {
            case .delivered: "The answer has reached the application that asked for it."
            case .ignored: "This answer belongs to another sign-in, or to one that is over. It was ignored."
            case .nobodyWaits:
                "No application waits for an answer just now. It was ignored; to sign in, start in the application."
            case .unusable: "This program is started by the desktop, with the address of an answer and nothing else."
            }
        }

        /// 0 when it was delivered, otherwise 3.
        public var exitCode: Int32 { self == .delivered ? 0 : 3 }
    }

    /// What a waiting program says to an address, as a line on its socket.
    enum Verdict: String, Sendable {
        case taken
        case stranger
        case over
    }

    /// Delivers what a desktop started this program for; nil when it was started for something else.
    ///
    /// Every program of this person that waits for the scheme gets the address, and the state in it decides whose it is.
    public static func deliver(
        _ arguments: [String] = CommandLine.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Outcome? {
        guard arguments.dropFirst().first == command else { return nil }
        guard arguments.count == 3, let address = arguments.last,
            address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = (try? ReturnedAddress(address))?.scheme
        else { return .unusable }
        #if os(Linux)
            guard let folders = try? DesktopFolders(environment: environment) else { return .nobodyWaits }
            let verdicts = folders.sockets.flatMap { path -> [Verdict] in
                guard let folder = try? SocketFolder(path, making: false) else { return [] }
                return folder.sockets(of: scheme).compactMap { verdict(on: address, from: $0, in: folder) }
            }
            if verdicts.contains(.taken) { return .delivered }
            if !verdicts.isEmpty { return .ignored }
            // The entry by which the desktop came here is one that nobody took back.
            SchemeRegistry(folders: folders).unregisterStale()
        #endif
        return .nobodyWaits
    }

    #if os(Linux)
        /// What one program says to an address; nil when it has ended, or does not answer in five seconds.
        private static func verdict(on address: String, from name: String, in folder: SocketFolder) -> Verdict? {
            guard let socket = folder.connect(to: name) else { return nil }
            defer { close(socket) }
            var rest = Array("\(address)\n".utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return nil }
                rest = rest.dropFirst(count)
            }
            var answer: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 64)
            while answer.count < buffer.count, answer.last != UInt8(ascii: "\n") {
                let count = recv(socket, &buffer, buffer.count, 0)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return nil }
                answer += buffer[..<count]
            }
            return Verdict(rawValue: String(decoding: answer.dropLast(), as: UTF8.self))
        }
    #endif
}

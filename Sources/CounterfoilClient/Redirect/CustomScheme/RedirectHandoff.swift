public import CounterfoilPlatform

/// The handoff of a callback URL from the process that the desktop starts to the process that waits.
///
/// A ``CustomSchemeReceiver`` registers the executable of its process with the desktop, which starts the
/// executable a second time for a callback. In `main`, call ``deliver(_:environment:)`` before any other code
/// reads the arguments, and exit if it returns an outcome:
///
///     if let outcome = RedirectHandoff.deliver() { exit(outcome.exitCode) }
///
/// Every user of the device can read the arguments of a running program (`ps`), unless the system hides them. The
/// code in the URL is therefore visible for a moment, as with custom schemes on every desktop. The code is useless
/// without the code verifier (RFC 8252 §8.1). No part of the URL is ever written to a file or logged.
public enum RedirectHandoff {
    /// The first argument of the program if the desktop started it with a callback URL.
    public static let command = "receive-redirect"

    /// The outcome of a handoff, with a message for the user and the exit code for the process.
    public enum Outcome: Sendable, Hashable, CustomStringConvertible {
        /// A waiting program accepted the URL.
        case delivered
        /// Programs are waiting for callbacks, but none of them expects this callback.
        case ignored
        /// No program waits for a callback (RFC 8252 §8.9).
        case noReceiver
        /// The first argument is ``command``, but it is not followed by exactly one valid URL.
        case unusable

        /// A message for the user; it contains no part of the URL.
        public var description: String {
            switch self {
            case .delivered: "The response has been delivered to the app that requested it."
            case .ignored: "This response belongs to another sign-in, or to one that has ended. It was ignored."
            case .noReceiver:
                "No app is waiting for this response. It was ignored; to sign in, start in the app."
            case .unusable: "Only the desktop starts this command, with the URL of a response as its only argument."
            }
        }

        /// The exit code: 0 if the URL was delivered, otherwise 3.
        public var exitCode: Int32 { self == .delivered ? 0 : 3 }
    }

    /// The reply of a waiting program to a URL, as a line on its socket.
    enum Verdict: String, Sendable {
        case accepted
        case unrelated
        case ended
    }

    /// Delivers the URL with which a desktop started this program; nil if it was started for another purpose.
    ///
    /// Every program of this user that waits for callbacks to the scheme receives the URL. Each of them compares
    /// the `state` in the URL with the `state` of its request.
    public static func deliver(
        _ arguments: [String] = CommandLine.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Outcome? {
        guard arguments.dropFirst().first == command else { return nil }
        guard arguments.count == 3, let url = arguments.last,
            url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = (try? CallbackURL(url))?.scheme
        else { return .unusable }
        #if os(Linux)
            guard let folders = try? DesktopFolders(environment: environment) else { return .noReceiver }
            let verdicts = folders.sockets.flatMap { path -> [Verdict] in
                guard let folder = try? SocketFolder(path, making: false) else { return [] }
                return folder.sockets(of: scheme).compactMap { verdict(on: url, from: $0, in: folder) }
            }
            if verdicts.contains(.accepted) { return .delivered }
            if !verdicts.isEmpty { return .ignored }
            // No program waits, so the desktop entry with which the desktop started this process is stale.
            SchemeRegistry(folders: folders).unregisterStale()
        #endif
        return .noReceiver
    }

    #if os(Linux)
        /// Returns the reply of one program to a URL; nil if it has exited or does not reply within five seconds.
        private static func verdict(on url: String, from name: String, in folder: SocketFolder) -> Verdict? {
            guard let socket = folder.connect(to: name) else { return nil }
            defer { close(socket) }
            var rest = Array("\(url)\n".utf8)[...]
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

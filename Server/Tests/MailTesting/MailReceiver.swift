@_spi(Counterfoil) import CounterfoilClient
import Foundation
import NIOConcurrencyHelpers
package import TestSupport

/// A mail server (aiosmtpd) in a process of its own, which parses each mail that it accepted.
package final class MailReceiver: Sendable {
    /// How the server answers.
    package enum Behaviour: String, Sendable {
        case accept
        /// It never answers the end of a message.
        case slow
        /// It answers the end of a message after four seconds.
        case late
        /// It refuses each recipient with 550.
        case refuse
        /// It refuses each sender with 550.
        case refuseSender = "refuse-sender"
        /// It refuses each message with 554.
        case refuseMessage = "refuse-message"
        /// It refuses each recipient with 451.
        case postpone
        /// It cuts the connection after the message.
        case cut
        /// It refuses the first recipient with 451, and accepts the others.
        case greylist
    }

    /// The encryption that the server offers.
    package enum Encryption: Sendable {
        case none
        case startTLS(TestAuthority.Issued)
        case implicitTLS(TestAuthority.Issued)
    }

    /// A mail as a mail program shows it.
    package struct Mail: Sendable, Hashable, Decodable {
        package let envelopeSender: String
        package let envelopeRecipients: [String]
        package let isEncrypted: Bool
        /// The name with which the sender signed in.
        package let login: String?
        /// The message as it was received.
        package let bytes: String
        package let fields: [String]
        package let messageID: String
        package let date: String
        package let from: String
        package let to: String
        package let subject: String
        package let language: String
        package let isAutomatic: Bool
        package let plain: String
        package let html: String
        /// The defects that the parser found.
        package let defects: [String]

        /// The first URL in the plain text; nil if there is none.
        package var link: String? {
            plain.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http") }.map(String.init)
        }
    }

    /// Whether to run the tests that receive mail: if aiosmtpd is installed, and always in CI.
    package static var isInstalled: Bool {
        let inCI = ProcessInfo.processInfo.environment["CI"].map { !["", "0", "false"].contains($0) } ?? false
        return inCI || hasLibrary
    }

    private static let hasLibrary: Bool = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/python3/dist-packages")) ?? []
        return folders.contains("aiosmtpd")
    }()

    private static let python = "/usr/bin/python3"
    private static let script = Repository.root.appendingPathComponent("Server/Tests/MailTesting/receiver.py").path

    /// The port at which the server listens, at 127.0.0.1.
    package let port: Int
    private let received = NIOLockedValueBox<[Mail]>([])
    private let input: Pipe
    private let folder: TemporaryDirectory

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - behaviour: How the server answers.
    ///   - encryption: The encryption that it offers.
    ///   - login: The name and the password that it requires, with a colon between them; nil for none.
    ///   - port: The port; 0 for a free one.
    package init(
        _ behaviour: Behaviour = .accept, encryption: Encryption = .none, login: String? = nil, port: Int = 0
    ) async throws {
        folder = try TemporaryDirectory()
        input = Pipe()
        var arguments = [Self.script, "--behaviour", behaviour.rawValue, "--port", String(port)]
        if let login { arguments += ["--login", login] }
        arguments += try Self.arguments(of: encryption, in: folder)
        let output = try OutputPipe()
        let process = try ChildProcess(
            path: Self.python, arguments: arguments, environment: ["PATH": "/usr/bin:/bin"],
            standardInput: input.fileHandleForReading.fileDescriptor, standardOutput: output.writingEnd)
        let (ports, portFound) = AsyncStream.makeStream(of: Int.self)
        let received = received
        Task {
            _ = await output.text { line in
                if let port = Int(line) { portFound.yield(port) }
                guard let mail = try? JSONDecoder().decode(Mail.self, from: Data(line.utf8)) else { return }
                received.withLockedValue { $0.append(mail) }
            }
            portFound.finish()
            _ = await process.exitStatus
        }
        guard let found = await ports.first(where: { _ in true }) else { throw OutputPipe.CannotOpen() }
        self.port = found
    }

    deinit { stop() }

    /// Ends the server, after which its port refuses connections.
    package func stop() { try? input.fileHandleForWriting.close() }

    /// The mails that were accepted, in this order.
    package var mails: [Mail] { received.withLockedValue { $0 } }

    /// Waits until a number of mails was accepted.
    package func mails(atLeast count: Int) async throws -> [Mail] {
        try await Waiting.until("\(count) mails") { mails.count >= count ? mails : nil }
    }

    private static func arguments(of encryption: Encryption, in folder: TemporaryDirectory) throws -> [String] {
        let (name, issued): (String, TestAuthority.Issued)
        switch encryption {
        case .none: return []
        case .startTLS(let certificate): (name, issued) = ("start", certificate)
        case .implicitTLS(let certificate): (name, issued) = ("implicit", certificate)
        }
        try Data(issued.certificate.utf8).write(to: folder.file("certificate.pem"))
        try Data(issued.key.utf8).write(to: folder.file("key.pem"))
        return [
            "--tls", name, "--certificate", folder.path("certificate.pem"), "--key", folder.path("key.pem"),
        ]
    }
}

import ArgumentParser
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import CounterfoilWeb
import Foundation
import HTTPTypes

/// The command `mail test`, which sends a mail at once, without the queue.
struct MailTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send a mail at once, and print what happened.",
        discussion: """
            The command reads the settings as serve does, and accepts each of its options. It needs no running server. \
            Run it as the user of the server. A mail that was accepted is an event in the audit log, if there is one.

            A mail that was accepted can still be lost or count as spam: look into the mailbox.

            Example:
              counterfoil-server mail test ada@example.com
            """
    )

    @Argument(help: ArgumentHelp("The email address that gets the mail.", valueName: "address"))
    var address: String

    @OptionGroup(visibility: .hidden) var options: ServeOptions

    @OptionGroup(title: "Another machine") var remote: RemoteOptions

    func validate() throws {
        guard EmailAddress(address) != nil else {
            throw ValidationError("\(address) is not an email address, such as ada@example.com.")
        }
        try remote.refuse(options)
    }

    func run() async throws {
        guard let recipient = EmailAddress(address) else { return }
        guard !remote.isGiven else {
            return try await remote.withTransport(on: options.location, creating: false) { server in
                let mail = try await server.change(.post, "/mail/test", ["email": .string(address)]).record()
                report(recipient, "\(DisplayName(mail.text("mail") ?? ""))")
            }
        }
        let configuration = try options.configuration(ProcessInfo.processInfo.environment)
        guard let post = try configuration.mail() else {
            throw CommandFailure.refused(
                "email is not set up; set mail-sender, and mail-server or mail-program, in the settings of the server")
        }
        let (mail, outcome) = await post.sendTest(to: recipient, settings: configuration.settings, at: Date())
        switch outcome {
        case .accepted:
            report(recipient, "\(mail.id)")
            await record()
        case .failed(let reason): throw CommandFailure.temporary("the mail was not sent: \(reason)")
        case .refused(let reason, let reply):
            throw CommandFailure.refused("the mail was \(reason): \(reply)")
        case .cancelled: throw CommandFailure.temporary("the mail was not sent")
        }
    }

    private func report(_ recipient: EmailAddress, _ mail: String) {
        Output.line("The mail to \(recipient) was accepted. Its Message-ID begins with \(mail).")
    }

    /// Adds the event to the audit log.
    ///
    /// The mail was sent already, and a server whose mail is tested first has no database, so it can only warn.
    private func record() async {
        do {
            try await options.location.withInstallation(creating: false) { installation in
                try await installation.store.appendAudit(
                    installation.event(.setting, detail: AuditEvent.testMailDetail))
            }
        } catch {
            let reason = (error as? CommandFailure)?.message ?? "\(error)"
            Output.note("warning: the audit log has no event of this mail: \(reason)")
        }
    }
}

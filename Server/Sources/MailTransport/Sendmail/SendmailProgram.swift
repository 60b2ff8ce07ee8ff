import Foundation

/// The submission to a program with the options of `sendmail`, without a shell.
///
/// The program gets the message on standard input, and the recipient as an argument after `--`.
package struct SendmailProgram: MailSubmission {
    private let path: String
    private let limits: Limits

    /// The times that an attempt may take.
    package struct Limits: Sendable, Hashable {
        /// The time for the whole run; a program can wait for a mail server as long as ``SMTPSubmission`` does.
        package var whole: Duration
        /// The time for the rest after the caller has cancelled, if the program has the whole message.
        package var stop: Duration

        package init(whole: Duration = .seconds(600), stop: Duration = .seconds(5)) {
            self.whole = whole
            self.stop = stop
        }
    }

    /// Creates the submission to the program at an absolute path.
    package init(path: String, limits: Limits = Limits()) {
        self.path = path
        self.limits = limits
    }

    /// The status of `sysexits.h` for an address of which the mail system knows that it does not exist: `EX_NOUSER`.
    private static let unknownUser: Int32 = 67

    package func submit(_ message: MailMessage) async -> SubmissionOutcome {
        let child = SendmailRun(limits)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let thread = Thread {
                    continuation.resume(returning: run(message, in: child))
                }
                thread.name = "mail"
                thread.start()
            }
        } onCancel: {
            child.cancel()
        }
    }

    private func run(_ message: MailMessage, in child: SendmailRun) -> SubmissionOutcome {
        // `-i`: a line with a single dot is part of the message.
        let arguments = ["-i", "-f", message.sender.rawValue, "--", message.recipient.rawValue]
        // Programs of a Unix system end lines with a line feed.
        let bytes = message.bytes.filter { $0 != 0x0D }
        return switch child.run(path, arguments, input: bytes) {
        case .notStarted: .failed(.programMissing)
        case .cancelled: .cancelled
        case .late: .failed(.timedOut)
        case .ended(status: 0): .accepted
        case .ended(status: Self.unknownUser):
            .refused(SMTPReply(code: 550, line: "550 5.1.1 the mail system knows no such mailbox"))
        case .ended(let status): .failed(.programFailed(status: Int(status)))
        }
    }
}

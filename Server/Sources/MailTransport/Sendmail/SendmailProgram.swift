import Foundation
import NIOConcurrencyHelpers

/// The submission to a program with the options of `sendmail`, without a shell.
///
/// The program gets the message on standard input, and the recipient as an argument after `--`.
package struct SendmailProgram: MailSubmission {
    private let path: String
    private let limit: Duration

    /// Creates the submission to the program at an absolute path, which may run for `limit`.
    package init(path: String, limit: Duration = .seconds(45)) {
        self.path = path
        self.limit = limit
    }

    /// The status of `sysexits.h` for an address of which the mail system knows that it does not exist: `EX_NOUSER`.
    private static let unknownUser: Int32 = 67

    package func submit(_ message: MailMessage) async -> SubmissionOutcome {
        let child = ProgramRun()
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

    private func run(_ message: MailMessage, in child: ProgramRun) -> SubmissionOutcome {
        // `-i`: a line with a single dot is part of the message.
        let arguments = ["-i", "-f", message.sender.rawValue, "--", message.recipient.rawValue]
        // Programs of a Unix system end lines with a line feed.
        let bytes = message.bytes.filter { $0 != 0x0D }
        return switch child.run(path, arguments, input: bytes, limit: limit) {
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

/// One run of a program, which another thread can end.
private final class ProgramRun: Sendable {
    enum End {
        case notStarted
        case cancelled
        case late
        case ended(status: Int32)
    }

    private struct State {
        var process: pid_t?
        var isFed = false
        var isCancelled = false
        var isLate = false
    }

    private let state = NIOLockedValueBox(State())

    /// Ends the program, unless it has the whole message: it may have accepted the mail by then.
    func cancel() {
        state.withLockedValue { state in
            state.isCancelled = true
            if let process = state.process, !state.isFed { kill(process, SIGKILL) }
        }
    }

    func run(_ path: String, _ arguments: [String], input: [UInt8], limit: Duration) -> End {
        let process = Process()
        let standardInput = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = standardInput
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard !state.withLockedValue({ $0.isCancelled }) else { return .cancelled }
        do { try process.run() } catch { return .notStarted }
        // The program inherits the signals that its thread blocks, so they are blocked after its start.
        Self.ignoreBrokenPipes()
        state.withLockedValue { $0.process = process.processIdentifier }
        let watch = DispatchWorkItem { self.expire() }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Int(limit.components.seconds)), execute: watch)
        // A program that ends early does not read everything; its status says why.
        try? standardInput.fileHandleForWriting.write(contentsOf: input)
        state.withLockedValue { $0.isFed = true }
        try? standardInput.fileHandleForWriting.close()
        process.waitUntilExit()
        watch.cancel()
        return state.withLockedValue { state in
            state.process = nil
            if state.isLate { return .late }
            if state.isCancelled, process.terminationReason == .uncaughtSignal { return .cancelled }
            return .ended(status: process.terminationStatus)
        }
    }

    private func expire() {
        state.withLockedValue { state in
            guard let process = state.process else { return }
            state.isLate = true
            kill(process, SIGKILL)
        }
    }

    /// Blocks SIGPIPE on this thread, which ends after the mail: a program can end before it has read everything.
    private static func ignoreBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

import NIOConcurrencyHelpers

/// The bytes of a mail on their way to a server, the phase of the session, and the last refusal.
///
/// The thread of the transfer uses it. Any thread can cancel.
final class TransferProgress: Sendable {
    /// The phase of an SMTP session.
    private enum Phase {
        /// The greeting and the commands before RCPT, which say nothing about the recipient or the mail.
        case session
        case recipient
        case data
        /// The server has asked for the mail by 354.
        case message
        case quit
    }

    /// A reply of 4xx or 5xx.
    struct Refusal {
        let reply: SMTPReply
        /// Whether it answers RCPT or the message, and no other command.
        let isAboutMail: Bool
    }

    private struct State {
        var sent = 0
        var phase = Phase.session
        var deadline: ContinuousClock.Instant
        var isCancelled = false
        var isLate = false
        var refusal: Refusal?
    }

    /// The longest line of a reply that is read (RFC 5321 §4.5.3.1.5).
    private static let lineLimit = 512
    /// The time for the reply to QUIT.
    private static let quitLimit = Duration.seconds(5)

    private let bytes: [UInt8]
    private let limits: SMTPSubmission.Limits
    private let state: NIOLockedValueBox<State>

    init(_ bytes: [UInt8], limits: SMTPSubmission.Limits) {
        self.bytes = bytes
        self.limits = limits
        state = NIOLockedValueBox(State(deadline: .now + limits.session))
    }

    /// Ends the transfer; if the whole mail was handed over, only after ``SMTPSubmission/Limits/stop``.
    func cancel() {
        state.withLockedValue { state in
            state.isCancelled = true
            state.deadline = min(state.deadline, .now + limits.stop)
        }
    }

    /// The reply that refused the last command; nil if the server refused none.
    var refusal: Refusal? { state.withLockedValue { $0.refusal } }

    /// Whether the transfer was ended because the server did not answer in time.
    var isLate: Bool { state.withLockedValue { $0.isLate } }

    private func mustEnd() -> Bool {
        state.withLockedValue { state in
            // The server may have accepted a mail that was handed over.
            if state.isCancelled && state.sent < bytes.count { return true }
            if ContinuousClock.now >= state.deadline { state.isLate = true }
            return state.isLate
        }
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLockedValue { state in
            let count = min(buffer.count, bytes.count - state.sent)
            bytes.withUnsafeBytes { bytes in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[state.sent..<state.sent + count]))
            }
            state.sent += count
            if count > 0, state.sent == bytes.count {
                state.deadline = .now + (state.isCancelled ? limits.stop : limits.reply)
            }
            return count
        }
    }

    /// Notes the start of a command; the bytes can contain the password.
    private func note(command: UnsafeRawBufferPointer) {
        state.withLockedValue { state in
            switch command.prefix(4).map({ $0 & 0xDF }) {
            case Array("QUIT".utf8):
                state.phase = .quit
                return state.deadline = min(state.deadline, .now + Self.quitLimit)
            case Array("RCPT".utf8): state.phase = .recipient
            case Array("DATA".utf8): state.phase = .data
            default: state.phase = .session
            }
            state.refusal = nil
        }
    }

    private func note(line: UnsafeRawBufferPointer) {
        let line = String(decoding: line.prefix(Self.lineLimit), as: UTF8.self)
        guard let code = Int(line.prefix(3)) else { return }
        state.withLockedValue { state in
            if code == 354, state.phase == .data { state.phase = .message }
            guard (400...599).contains(code), state.phase != .quit else { return }
            state.refusal = Refusal(
                reply: SMTPReply(code: code, line: line),
                isAboutMail: state.phase == .recipient || state.phase == .message)
        }
    }

    /// Sets the functions that the library calls, and this object as their context.
    func connect(to transfer: CurlLibrary.Transfer) {
        // size_t read(char *buffer, size_t size, size_t count, void *context)
        let read: @convention(c) (UnsafeMutableRawPointer?, Int, Int, UnsafeRawPointer?) -> Int = {
            guard let buffer = $0, let context = $3 else { return 0 }
            return TransferProgress.at(context).read(into: UnsafeMutableRawBufferPointer(start: buffer, count: $1 * $2))
        }
        // size_t header(char *buffer, size_t size, size_t count, void *context)
        let header: @convention(c) (UnsafeMutableRawPointer?, Int, Int, UnsafeRawPointer?) -> Int = {
            guard let buffer = $0, let context = $3 else { return 0 }
            TransferProgress.at(context).note(line: UnsafeRawBufferPointer(start: buffer, count: $1 * $2))
            return $1 * $2
        }
        // int progress(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
        let progress: @convention(c) (UnsafeRawPointer?, Int64, Int64, Int64, Int64) -> CInt = { context, _, _, _, _ in
            context.map { TransferProgress.at($0).mustEnd() ? 1 : 0 } ?? 0
        }
        transfer.setContext(self, of: [.readData, .headerData, .transferInfoData, .debugData])
        transfer.setPointer(.readFunction, unsafeBitCast(read, to: UnsafeRawPointer.self))
        transfer.setPointer(.headerFunction, unsafeBitCast(header, to: UnsafeRawPointer.self))
        transfer.setPointer(.transferInfoFunction, unsafeBitCast(progress, to: UnsafeRawPointer.self))
        transfer.set(.noProgress, 0)
        observeCommands(of: transfer)
    }

    private func observeCommands(of transfer: CurlLibrary.Transfer) {
        // int debug(CURL *handle, curl_infotype type, char *data, size_t size, void *context)
        typealias Debug =
            @convention(c) (UnsafeRawPointer?, CInt, UnsafeRawPointer?, Int, UnsafeRawPointer?) -> CInt
        let debug: Debug = { _, type, data, size, context in
            // CURLINFO_HEADER_OUT: a command.
            guard type == 2, let data, let context else { return 0 }
            TransferProgress.at(context).note(command: UnsafeRawBufferPointer(start: data, count: size))
            return 0
        }
        transfer.setPointer(.debugFunction, unsafeBitCast(debug, to: UnsafeRawPointer.self))
        // Without the function, the library would write to standard error.
        if transfer.refusedOption == nil { transfer.set(.verbose, 1) }
    }

    private static func at(_ context: UnsafeRawPointer) -> TransferProgress {
        Unmanaged<TransferProgress>.fromOpaque(context).takeUnretainedValue()
    }
}

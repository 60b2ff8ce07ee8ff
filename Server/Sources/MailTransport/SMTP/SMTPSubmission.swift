import Foundation

/// The submission to a mail server by libcurl.
///
/// Each mail has a thread and a connection of its own while it is sent, so the caller bounds how many are sent at once.
package struct SMTPSubmission: MailSubmission {
    /// The times that an attempt may take.
    package struct Limits: Sendable, Hashable {
        package var connect: Duration
        package var whole: Duration

        package init(connect: Duration = .seconds(15), whole: Duration = .seconds(45)) {
            self.connect = connect
            self.whole = whole
        }
    }

    /// The time for which libcurl waits for one reply.
    private static let replyLimit = Duration.seconds(20)

    private let server: SMTPServer
    private let credentials: SMTPCredentials?
    private let limits: Limits
    private let authorityFile: String?
    private let libraryNames: [String]?

    /// Creates the submission to a server.
    ///
    /// - Parameters:
    ///   - server: The mail server.
    ///   - credentials: The credentials; nil to send without a login.
    ///   - limits: The times that an attempt may take.
    ///   - authorityFile: A file with the certificates of accepted authorities; nil for those of the system.
    ///   - libraryNames: The libraries of which the first is loaded; nil for that of the system.
    package init(
        _ server: SMTPServer, credentials: SMTPCredentials?, limits: Limits = Limits(), authorityFile: String? = nil,
        libraryNames: [String]? = nil
    ) {
        self.server = server
        self.credentials = credentials
        self.limits = limits
        self.authorityFile = authorityFile
        self.libraryNames = libraryNames
    }

    /// Loads the library, so that a missing one is known before the first mail.
    package static func requireLibrary() throws(SubmissionFailure) {
        guard CurlLibrary.system != nil else { throw .libraryMissing }
    }

    package func submit(_ message: MailMessage) async -> SubmissionOutcome {
        guard let library = libraryNames.map({ CurlLibrary(anyOf: $0) }) ?? CurlLibrary.system else {
            return .failed(.libraryMissing)
        }
        let progress = TransferProgress(message.bytes)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let thread = Thread {
                    Self.ignoreBrokenPipes()
                    continuation.resume(returning: transfer(message, progress, with: library))
                }
                thread.name = "mail"
                thread.start()
            }
        } onCancel: {
            progress.cancel()
        }
    }

    /// Blocks SIGPIPE on this thread, which ends after the mail: libcurl writes to connections that the server closed.
    private static func ignoreBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private func transfer(
        _ message: MailMessage, _ progress: TransferProgress, with library: CurlLibrary
    ) -> SubmissionOutcome {
        guard let transfer = CurlLibrary.Transfer(library) else { return .failed(.libraryUnable(code: 2)) }
        configure(transfer, for: message)
        let end = withExtendedLifetime(progress) {
            progress.connect(to: transfer)
            // An option that is not set can be one that protects the mail.
            return transfer.refusedOption == nil ? transfer.perform() : (.unknownOption, 0)
        }
        return outcome(of: end.result, code: end.replyCode, progress)
    }

    private func configure(_ transfer: CurlLibrary.Transfer, for message: MailMessage) {
        let domain = message.sender.rawValue.split(separator: "@").last.map(String.init) ?? "localhost"
        // CURLPROTO_SMTP and CURLPROTO_SMTPS; nothing else can be reached, whatever the URL is.
        transfer.set(.protocols, 1 << 16 | 1 << 17)
        transfer.set(.redirectProtocols, 0)
        transfer.set(.followLocation, 0)
        // No proxy, not even one that an environment variable names.
        transfer.set(.proxy, "")
        transfer.set(.url, server.url(greetingAs: domain))
        // CURLUSESSL_ALL: STARTTLS or an error.
        transfer.set(.useSSL, server.security == .insecureWithoutTLS ? 0 : 3)
        transfer.set(.verifyPeer, 1)
        transfer.set(.verifyHost, 2)
        // CURL_SSLVERSION_TLSv1_2, as the lowest version.
        transfer.set(.sslVersion, 6)
        if let authorityFile { transfer.set(.authorityFile, authorityFile) }
        if let credentials {
            transfer.set(.username, credentials.username)
            transfer.set(.password, credentials.password)
        }
        transfer.set(.noSignal, 1)
        transfer.set(.connectTimeoutMilliseconds, limits.connect.milliseconds)
        transfer.set(.timeoutMilliseconds, limits.whole.milliseconds)
        // It also bounds the wait for the reply to QUIT, for which the other limits do not count.
        transfer.set(.responseTimeoutSeconds, max(1, Int(min(limits.whole, Self.replyLimit).components.seconds)))
        transfer.set(.upload, 1)
        transfer.set(.mailFrom, "<\(message.sender)>")
        transfer.setRecipient(message.recipient)
    }

    private func outcome(of result: CurlResult, code: Int, _ progress: TransferProgress) -> SubmissionOutcome {
        switch result {
        case .ok: .accepted
        case .aborted: .cancelled
        case .hostNotFound: .failed(.hostNotFound)
        case .notConnected: .failed(.notReached)
        case .timedOut: .failed(.timedOut)
        case .tlsFailed: .failed(.encryptionFailed)
        case .tlsRequired: .failed(.noEncryption)
        case .certificateRefused, .authorityFileUnreadable: .failed(.certificateRefused)
        case .loginDenied: .failed(.loginRefused)
        case .unsupportedProtocol, .failedInit, .notBuiltIn, .outOfMemory, .unknownOption:
            .failed(.libraryUnable(code: Int(result.rawValue)))
        default: outcome(of: SMTPReply(code: code, line: progress.lastRefusal))
        }
    }

    /// Judges the reply after which the transfer ended (RFC 5321 §4.2.1).
    private func outcome(of reply: SMTPReply) -> SubmissionOutcome {
        switch reply.code {
        // The server wants a login (RFC 4954 §6), which is a matter of the settings and not of the mail.
        case 530, 535: .failed(.loginRefused)
        case 400...499: .failed(.postponed(reply))
        case 500...599: .refused(reply)
        default: .failed(.cutOff)
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}

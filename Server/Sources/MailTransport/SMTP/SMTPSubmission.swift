import Foundation

/// The submission to a mail server by libcurl.
///
/// Each mail has a thread and a connection of its own while it is sent, so the caller bounds how many are sent at once.
package struct SMTPSubmission: MailSubmission {
    /// The times that an attempt may take.
    package struct Limits: Sendable, Hashable {
        /// The time until the connection is open.
        package var connect: Duration
        /// The time from the start until the mail server has the whole mail.
        package var session: Duration
        /// The time for the reply to the mail, for which RFC 5321 §4.5.3.2.6 requires 10 minutes: a mail server that
        /// accepts a mail after its sender has left delivers it, and the sender sends it again.
        package var reply: Duration
        /// The time for the same reply after the caller has cancelled.
        package var stop: Duration

        package init(
            connect: Duration = .seconds(15), session: Duration = .seconds(45), reply: Duration = .seconds(600),
            stop: Duration = .seconds(5)
        ) {
            self.connect = connect
            self.session = session
            self.reply = reply
            self.stop = stop
        }
    }

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
        let progress = TransferProgress(message.bytes, limits: limits)
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
        progress.connect(to: transfer)
        // An option that is not set can be one that protects the mail.
        return outcome(of: transfer.refusedOption == nil ? transfer.perform() : .unknownOption, progress)
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
            // libcurl tries only the strongest mechanism that the server offers. With GSSAPI or NTLM, for which there
            // are no credentials, it would not come to the password.
            transfer.set(.loginOptions, "AUTH=PLAIN;AUTH=LOGIN")
        }
        transfer.set(.noSignal, 1)
        transfer.set(.connectTimeoutMilliseconds, limits.connect.milliseconds)
        // `TransferProgress` ends each phase in its time. These limits are the bound for all of them, and for a reply.
        transfer.set(.timeoutMilliseconds, (limits.session + limits.reply).milliseconds)
        transfer.set(.responseTimeoutSeconds, max(1, Int(max(limits.session, limits.reply).components.seconds)))
        // The connection is closed within the transfer, so that its limits count for QUIT.
        transfer.set(.forbidReuse, 1)
        transfer.set(.upload, 1)
        transfer.set(.mailFrom, "<\(message.sender)>")
        transfer.setRecipient(message.recipient)
    }

    private func outcome(of result: CurlResult, _ progress: TransferProgress) -> SubmissionOutcome {
        switch result {
        case .ok: .accepted
        case .aborted: progress.isLate ? .failed(.timedOut) : .cancelled
        case .hostNotFound: .failed(.hostNotFound)
        case .notConnected: .failed(.notReached)
        case .timedOut: .failed(.timedOut)
        case .tlsFailed: .failed(.encryptionFailed)
        case .tlsRequired: .failed(.noEncryption)
        case .certificateRefused, .authorityFileUnreadable: .failed(.certificateRefused)
        case .loginDenied: .failed(.loginRefused)
        case .unsupportedProtocol, .failedInit, .notBuiltIn, .outOfMemory, .unknownOption:
            .failed(.libraryUnable(code: Int(result.rawValue)))
        default: progress.refusal.map(outcome) ?? .failed(.cutOff)
        }
    }

    /// Judges the reply after which the transfer ended (RFC 5321 §4.2.1).
    private func outcome(of refusal: TransferProgress.Refusal) -> SubmissionOutcome {
        switch refusal.reply.code {
        // The server wants a login (RFC 4954 §6), which is a matter of the settings and not of the mail.
        case 530, 535: .failed(.loginRefused)
        case ...499: .failed(.postponed(refusal.reply))
        default: refusal.isAboutMail ? .refused(refusal.reply) : .failed(.sessionRefused(refusal.reply))
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}

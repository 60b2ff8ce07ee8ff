/// The result of one attempt to submit a mail.
package enum SubmissionOutcome: Sendable, Hashable {
    /// The mail server or the program took the mail.
    case accepted
    /// The attempt failed, and a later one can succeed.
    case failed(SubmissionFailure)
    /// The mail server refused this mail or its recipient for good (RFC 5321 §4.2.1), by a reply to RCPT or to the
    /// message.
    case refused(SMTPReply)
    /// The caller cancelled the attempt before the mail was handed over.
    case cancelled
}

/// The way in which mails leave the machine.
package protocol MailSubmission: Sendable {
    /// Submits a mail once; a cancelled task ends an attempt that has not handed over the whole mail.
    func submit(_ message: MailMessage) async -> SubmissionOutcome
}

/// The last reply of a mail server (RFC 5321 §4.2).
package struct SMTPReply: Sendable, Hashable, CustomStringConvertible {
    /// The status code, such as 550.
    package let code: Int
    /// The enhanced status code, such as `5.1.1` (RFC 3463 §2); nil if there is none.
    package let enhancedCode: String?
    /// The text of the reply in one line, which often contains the address of the recipient.
    package let text: String

    /// Reads the last line of a reply.
    init(code: Int, line: String) {
        self.code = code
        let words = line.dropFirst(4)
        let first = words.prefix { $0 != " " }
        let parts = first.split(separator: ".", omittingEmptySubsequences: false)
        let isCode =
            parts.count == 3
            && parts.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy(\.isASCIIDigit) }
        enhancedCode = isCode ? String(first) : nil
        // Terminals show it.
        text = String(words.prefix(200).map { $0.isPrintableASCII ? $0 : " " }).trimming
    }

    /// The codes, which contain no personal data.
    package var description: String { enhancedCode.map { "\(code) \($0)" } ?? "\(code)" }
}

extension Character {
    fileprivate var isPrintableASCII: Bool { (" "..."~").contains(self) && isASCII }
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

extension String {
    fileprivate var trimming: String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}

/// The reason why an attempt failed that can succeed later.
package enum SubmissionFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The system has no libcurl that can be loaded.
    case libraryMissing
    /// The libcurl of the system cannot speak SMTP or TLS.
    case libraryUnable(code: Int)
    /// The name of the mail server has no address.
    case hostNotFound
    /// The mail server accepts no connection.
    case notReached
    /// The mail server was too slow.
    case timedOut
    /// The mail server offers no encryption.
    case noEncryption
    /// The certificate of the mail server is not valid for its name.
    case certificateRefused
    /// TLS could not be negotiated.
    case encryptionFailed
    /// The mail server did not accept the credentials.
    case loginRefused
    /// The connection ended before the mail server had accepted the mail, or refused it.
    case cutOff
    /// The mail server refused the mail for now (RFC 5321 §4.2.1).
    case postponed(SMTPReply)
    /// The mail server refused the connection, a command or the sender, and so each mail.
    case sessionRefused(SMTPReply)
    /// The program could not be started.
    case programMissing
    /// The program ended with an error (`sysexits.h`).
    case programFailed(status: Int)

    /// A description of the problem and its remedy, without personal data and secrets.
    package var description: String {
        switch self {
        case .libraryMissing: "libcurl is not installed (Debian and Ubuntu: libcurl4, Fedora: libcurl)"
        case .libraryUnable(let code):
            "libcurl failed with code \(code); install a libcurl that supports SMTP and TLS"
        case .hostNotFound: "the name of the mail server was not found; check the name and the DNS of this machine"
        case .notReached: "the mail server accepts no connection; check its port, and whether a firewall blocks it"
        case .timedOut: "the mail server did not answer in time; check its port, and whether a firewall blocks it"
        case .noEncryption: "the mail server offers no STARTTLS; use smtps:// with the port for TLS, usually 465"
        case .certificateRefused:
            "the certificate of the mail server is not valid for its name; use the name in the certificate, and "
                + "install its authority in this system"
        case .encryptionFailed:
            "TLS with the mail server failed; smtps:// is for the port 465, and smtp:// for the ports 587 and 25"
        case .loginRefused: "the mail server did not accept the credentials; check the credentials file"
        case .cutOff: "the mail server closed the connection before it had accepted the mail"
        case .postponed(let reply): "the mail server refused the mail for now (\(reply))"
        case .sessionRefused(let reply):
            "the mail server refused the connection or the sender (\(reply)); check the sender address, and whether "
                + "the mail server accepts mails from this machine"
        case .programMissing: "the sendmail program could not be started; check its path and its permissions"
        case .programFailed(let status):
            "the sendmail program ended with status \(status); see the log of the mail system"
        }
    }
}

import ArgumentParser
import CounterfoilStore
import CounterfoilWeb
import Foundation
import MailTransport

extension Settings {
    static let mailServer = Setting<SMTPServer?>(
        "mail-server",
        SettingForm(
            .text("^[Ss][Mm][Tt][Pp][Ss]?://[^/@]+/?$"),
            read: { text throws(SettingRefusal) in
                guard let server = SMTPServer(text) else {
                    throw .text(text, "must be smtps://HOST:PORT, or smtp://HOST:PORT for STARTTLS")
                }
                return server
            }, text: { "\($0)" }),
        value: "url", example: "smtps://mail.example.com:465",
        "The mail server that takes mails: smtps://HOST:PORT, or smtp://HOST:PORT for STARTTLS, without which nothing "
            + "is sent. (default: none)")
    static let mailProgram = Setting<String?>(
        "mail-program",
        .text(.text("^/")) { $0.hasPrefix("/") ? nil : .text($0, "must be an absolute path") },
        value: "path", example: "/usr/sbin/sendmail",
        "A program with the options of sendmail that takes mails, instead of --mail-server. It must work without "
            + "setuid and setgid in the packaged service. (default: none)")
    static let mailSender = Setting<String?>(
        "mail-sender",
        .text(.text("^[^@]+@[^@]+$")) { text in
            MailAddress(text) == nil ? .text(text, "not an email address, such as id@example.com") : nil
        },
        value: "email", example: "id@example.com", "The email address from which mails are sent.")
    static let mailCredentialsFile = Setting<String?>(
        "mail-credentials-file", .text, value: "file", example: "/etc/counterfoil/mail.credentials",
        "The file with the user name for --mail-server in the first line, and the password in the second. "
            + "(default: none)")
    static let mailTLS = Setting(
        "mail-tls", .choice(), default: MailTLS.required, value: "rule",
        "Whether the connection to --mail-server needs TLS: required, or never for smtp:// on this machine.")
}

/// The rule for TLS on the connection to the mail server.
enum MailTLS: String, Sendable, CaseIterable {
    case required
    case never
}

/// The options of `serve` for email.
struct MailOptions: SettingGroup {
    static let title = "Email"

    @Option(Settings.mailServer) var server: String?
    @Option(Settings.mailProgram) var program: String?
    @Option(Settings.mailSender) var sender: String?
    @Option(Settings.mailCredentialsFile) var credentialsFile: String?
    @Option(Settings.mailTLS) var tls: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.mailServer, \.server), .init(Settings.mailProgram, \.program),
        .init(Settings.mailSender, \.sender), .init(Settings.mailCredentialsFile, \.credentialsFile),
        .init(Settings.mailTLS, \.tls),
    ]
}

extension ServeConfiguration {
    /// Throws if the settings for email contradict each other.
    func checkMail() throws(SettingMistake) {
        guard self[Settings.mailServer] == nil || self[Settings.mailProgram] == nil else {
            throw SettingMistake("\(Settings.mailServer) and \(Settings.mailProgram) exclude each other.")
        }
        let isSent = self[Settings.mailServer] != nil || self[Settings.mailProgram] != nil
        guard isSent || self[Settings.mailSender] == nil else {
            throw SettingMistake("\(Settings.mailSender) requires \(Settings.mailServer) or \(Settings.mailProgram).")
        }
        guard !isSent || self[Settings.mailSender] != nil else {
            if self[Settings.mailServer] != nil {
                throw SettingMistake("\(Settings.mailServer) requires \(Settings.mailSender).")
            }
            throw SettingMistake("\(Settings.mailProgram) requires \(Settings.mailSender).")
        }
        guard let server = self[Settings.mailServer] else {
            if self[Settings.mailCredentialsFile] != nil {
                throw SettingMistake("\(Settings.mailCredentialsFile) requires \(Settings.mailServer).")
            }
            if self[Settings.mailTLS] == .never {
                throw SettingMistake("\(Settings.mailTLS) never requires \(Settings.mailServer).")
            }
            return
        }
        guard self[Settings.mailTLS] == .required || (server.isLoopback && server.security == .startTLS) else {
            throw SettingMistake(
                """
                \(Settings.mailTLS) never requires smtp:// with localhost or another loopback address at \
                \(Settings.mailServer): mails contain links with which others could act as the user.
                """)
        }
    }

    /// Returns the sender of mails; nil if none is set up.
    ///
    /// - Throws: ``CommandFailure`` if a file or a library cannot be used.
    func mail() throws(CommandFailure) -> MailPost? {
        guard let sender = self[Settings.mailSender].flatMap({ MailAddress($0) }) else { return nil }
        if let path = self[Settings.mailProgram] {
            guard FileManager.default.isExecutableFile(atPath: path) else {
                let name = words("\(Settings.mailProgram)")
                throw .refused("\(name): this user cannot run \(path); check its path and permissions")
            }
            return MailPost(from: sender, by: SendmailProgram(path: path, limits: .init(stop: stopLimit)))
        }
        guard var server = self[Settings.mailServer] else { return nil }
        if self[Settings.mailTLS] == .never { server.security = .insecureWithoutTLS }
        do { try SMTPSubmission.requireLibrary() } catch {
            throw .refused("\(words("\(Settings.mailServer)")): \(error)")
        }
        return MailPost(
            from: sender,
            by: SMTPSubmission(server, credentials: try mailCredentials(), limits: .init(stop: stopLimit)))
    }

    /// The time for which a server that stops waits for the answer of the mail server: less than the time for the last
    /// requests, which are answered after it.
    private var stopLimit: Duration { .seconds(min(self[Settings.stopTimeout] / 2, 5)) }

    private func mailCredentials() throws(CommandFailure) -> SMTPCredentials? {
        guard let path = self[Settings.mailCredentialsFile] else { return nil }
        let name = words("\(Settings.mailCredentialsFile)")
        let text = try RegularFile.text(at: path, for: name, limit: 4096, isSecret: true)
        guard let credentials = SMTPCredentials(file: text) else {
            throw .refused("\(name): \(path) must have two lines: the user name, and the password")
        }
        return credentials
    }
}

import ACMEClient
import ArgumentParser
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import Foundation
import HTTPListener
import NIOSSL

extension Settings {
    static let acmeContact = Setting<String?>(
        "acme-contact",
        .text(.text("^[^@]+@[^@]+$")) { text in
            EmailAddress(text) == nil ? .text(text, "not an email address, such as owner@example.com") : nil
        },
        value: "email", example: "owner@example.com",
        "The email address for the account at the authority; the server then orders its certificate itself. The next "
            + "order sends a changed address. (default: none)")
    static let acmeTermsAgreed = Setting(
        "acme-terms-agreed", .flag, default: false, "Agree to the terms of service of the authority.")
    static let acmeDirectory = Setting(
        "acme-directory",
        .text(.text("^https?://")) { text in
            AuthorityURL(text) == nil ? .text(text, "must be an https URL") : nil
        },
        default: AuthorityURL.standard, value: "url", "The directory URL of the authority.")
    static let acmeRoot = Setting<String?>(
        "acme-root", .text, value: "file", example: "/etc/counterfoil/acme-root.pem",
        "A PEM file with the root certificate of a private authority. (default: those of the system)")
    static let acmeKeyIdentifier = Setting<String?>(
        "acme-eab-kid", .text, value: "kid", example: "kid-1",
        "The identifier of the key that binds a new account to one of yours; an existing account stays as it is. "
            + "(default: none)")
    static let acmeKeyFile = Setting<String?>(
        "acme-eab-key-file", .text, value: "file", example: "/etc/counterfoil/eab.key",
        "The file with that key in base64url.")
    static let acmeChallenge = Setting(
        "acme-challenge", .choice(), default: ACMESettings.Challenge.tls, value: "challenge",
        "How the authority validates the hosts: tls-alpn-01 at --listen, or http-01 at --redirect-listen.")
}

/// The options of `serve` for a certificate that the server orders itself (RFC 8555).
struct ACMEOptions: SettingGroup {
    static let title = "Certificate of an authority (ACME)"

    @Option(Settings.acmeContact) var contact: String?
    @Flag(Settings.acmeTermsAgreed) var termsAgreed: Bool
    @Option(Settings.acmeDirectory) var directory: String?
    @Option(Settings.acmeRoot) var root: String?
    @Option(Settings.acmeKeyIdentifier) var keyIdentifier: String?
    @Option(Settings.acmeKeyFile) var keyFile: String?
    @Option(Settings.acmeChallenge) var challenge: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.acmeContact, \.contact), .init(Settings.acmeTermsAgreed, \.termsAgreed),
        .init(Settings.acmeDirectory, \.directory), .init(Settings.acmeRoot, \.root),
        .init(Settings.acmeKeyIdentifier, \.keyIdentifier), .init(Settings.acmeKeyFile, \.keyFile),
        .init(Settings.acmeChallenge, \.challenge),
    ]
}

extension ServeConfiguration {
    /// Throws if the settings of the orders contradict each other, the issuer, or the settings for TLS and listening.
    func checkOrders() throws(SettingMistake) {
        guard self[Settings.acmeContact] != nil else { return try checkNoOrders() }
        guard self[Settings.acmeTermsAgreed] else {
            throw SettingMistake(
                """
                \(Settings.acmeContact) requires \(Settings.acmeTermsAgreed): read the terms of service of the authority \
                first.
                """)
        }
        guard (self[Settings.acmeKeyIdentifier] == nil) == (self[Settings.acmeKeyFile] == nil) else {
            throw SettingMistake("\(Settings.acmeKeyIdentifier) and \(Settings.acmeKeyFile) require each other.")
        }
        guard settings.issuer.isSecure else {
            throw SettingMistake("\(Settings.acmeContact) requires an https issuer.")
        }
        guard self[Settings.tlsCertificate] == nil else {
            throw SettingMistake("\(Settings.acmeContact) and \(Settings.tlsCertificate) exclude each other.")
        }
        for host in hosts where !ACMESettings.canName(host) {
            throw SettingMistake(
                "\(Settings.acmeContact): \(host) is not a host name, so no certificate can name it.")
        }
        guard self[Settings.acmeChallenge] != .http || self[Settings.redirectListen] != nil else {
            throw SettingMistake("\(Settings.acmeChallenge) http-01 requires \(Settings.redirectListen).")
        }
        // The kinds of sockets of systemd are known at the start only.
        guard self[Settings.listen].contains(where: { !$0.isUnixSocket }) else { throw SettingMistake(Self.noTCP) }
    }

    private func checkNoOrders() throws(SettingMistake) {
        if self[Settings.acmeTermsAgreed] { throw Self.missingContact(for: Settings.acmeTermsAgreed) }
        if self[Settings.acmeRoot] != nil { throw Self.missingContact(for: Settings.acmeRoot) }
        if self[Settings.acmeKeyIdentifier] != nil { throw Self.missingContact(for: Settings.acmeKeyIdentifier) }
        if self[Settings.acmeKeyFile] != nil { throw Self.missingContact(for: Settings.acmeKeyFile) }
    }

    private static func missingContact<Value>(for setting: Setting<Value>) -> SettingMistake {
        SettingMistake("\(setting) requires \(Settings.acmeContact).")
    }

    private static let noTCP: SettingMessage = """
        \(Settings.acmeContact) requires a TCP port at \(Settings.listen), because Unix sockets never speak TLS; add \
        HOST:PORT, or let the proxy in front have the certificate
        """

    /// Throws if the certificate would be for no listener, because all sockets of systemd are Unix sockets.
    func checkOrders(for listeners: ListenOptions.Listeners) throws(CommandFailure) {
        guard self[Settings.acmeContact] != nil, listeners.requests.allSatisfy(\.isUnixSocket) else { return }
        throw .refused(words(Self.noTCP))
    }

    /// The maximum size of a file in bytes.
    private static var fileLimit: Int { 1 << 20 }

    /// Returns the settings of the orders; nil without them.
    ///
    /// - Throws: ``CommandFailure`` if a file cannot be used.
    func orders() throws(CommandFailure) -> ACMESettings? {
        guard let contact = self[Settings.acmeContact], let directory = AuthorityURL(self[Settings.acmeDirectory])
        else { return nil }
        var roots: [NIOSSLCertificate]?
        if let path = self[Settings.acmeRoot] { roots = try self.roots(in: path) }
        return ACMESettings(
            directory: directory, contact: contact.trimmingWhitespace(), hosts: hosts, roots: roots,
            externalAccount: try externalAccount(), challenge: self[Settings.acmeChallenge])
    }

    private func roots(in path: String) throws(CommandFailure) -> [NIOSSLCertificate] {
        let name = words("\(Settings.acmeRoot)")
        let text = try RegularFile.text(at: path, for: name, limit: Self.fileLimit)
        do { return try OutboundAuthorities.certificates(in: text) } catch {
            throw .refused("\(name): cannot use the file \(path): \(error)")
        }
    }

    private func externalAccount() throws(CommandFailure) -> ExternalAccount? {
        guard let identifier = self[Settings.acmeKeyIdentifier], let path = self[Settings.acmeKeyFile] else {
            return nil
        }
        let name = words("\(Settings.acmeKeyFile)")
        let key = try RegularFile.text(at: path, for: name, limit: Self.fileLimit, isSecret: true)
        guard let account = ExternalAccount(keyIdentifier: identifier, key: key) else {
            throw .refused(
                "\(name): \(path) contains no key in base64url; store the one that the authority has given you")
        }
        return account
    }
}

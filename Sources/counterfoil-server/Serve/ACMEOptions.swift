import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilWeb
import Foundation

extension ACMESettings.Challenge: ExpressibleByArgument {}

/// The options of `serve` for a certificate that the server orders itself (RFC 8555).
struct ACMEOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The email address for the account at the authority; the server then orders its certificate itself. "
                + "The next order sends a changed address. (default: none)",
            valueName: "email"))
    var acmeContact: String?

    @Flag(name: .long, help: "Agree to the terms of service of the authority.")
    var acmeTermsAgreed = false

    @Option(
        name: .long,
        help: ArgumentHelp("The directory URL of the authority.", valueName: "url"))
    var acmeDirectory = AuthorityURL.standard

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A PEM file with the root certificate of a private authority. (default: those of the system)",
            valueName: "file"))
    var acmeRoot: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The identifier of the key that binds a new account to one of yours; an existing account stays as it is. "
                + "(default: none)",
            valueName: "kid"))
    var acmeEabKid: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The file with that key in base64url.", valueName: "file"))
    var acmeEabKeyFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How the authority validates the hosts: tls-alpn-01 at --listen, or http-01 at --redirect-listen.",
            valueName: "challenge"))
    var acmeChallenge = ACMESettings.Challenge.tls

    /// The maximum size of a file in bytes.
    private static let limit = 1 << 20

    func validate() throws {
        guard let acmeContact else {
            let given = [
                acmeTermsAgreed ? "--acme-terms-agreed" : nil, acmeRoot.map { _ in "--acme-root" },
                acmeEabKid.map { _ in "--acme-eab-kid" }, acmeEabKeyFile.map { _ in "--acme-eab-key-file" },
            ]
            guard let option = given.compactMap(\.self).first else { return }
            throw ValidationError("\(option) requires --acme-contact.")
        }
        guard EmailAddress(acmeContact) != nil else {
            throw ValidationError("--acme-contact \(acmeContact): not an email address, such as owner@example.com.")
        }
        guard acmeTermsAgreed else {
            throw ValidationError(
                "--acme-contact requires --acme-terms-agreed: read the terms of service of the authority first.")
        }
        guard AuthorityURL(acmeDirectory) != nil else {
            throw ValidationError("--acme-directory \(acmeDirectory): must be an https URL.")
        }
        guard (acmeEabKid == nil) == (acmeEabKeyFile == nil), acmeEabKid?.isEmpty != true else {
            throw ValidationError("--acme-eab-kid and --acme-eab-key-file require each other.")
        }
    }

    /// Throws if an option contradicts the issuer, or the options for TLS and listening.
    func check(_ issuer: Issuer, callbackOrigin: CallbackOrigin?, tls: TLSOptions, listening: ListenOptions) throws {
        guard acmeContact != nil else { return }
        guard issuer.isSecure else { throw ValidationError("--acme-contact requires an https issuer.") }
        guard tls.tlsCertificate == nil else {
            throw ValidationError("--acme-contact and --tls-certificate exclude each other.")
        }
        for host in [issuer.host] + (callbackOrigin.map { [$0.host] } ?? []) {
            guard ACMESettings.canName(host) else {
                throw ValidationError("--acme-contact: \(host) is not a host name, so no certificate can name it.")
            }
        }
        guard acmeChallenge != .http || tls.redirectListen != nil else {
            throw ValidationError("--acme-challenge http-01 requires --redirect-listen.")
        }
        guard try listening.canListenOnTCP else { throw ValidationError("\(Self.noTCP).") }
    }

    private static let noTCP =
        "--acme-contact requires a TCP port at --listen, because Unix sockets never speak TLS; add HOST:PORT, or let the "
        + "proxy in front have the certificate"

    /// Throws if the certificate would be for no listener, because all sockets of systemd are Unix sockets.
    func check(_ listeners: ListenOptions.Listeners) throws(CommandFailure) {
        guard acmeContact != nil, listeners.requests.allSatisfy(\.isUnixSocket) else { return }
        throw .refused(Self.noTCP)
    }

    /// The settings of the orders; nil without the options.
    ///
    /// - Throws: ``CommandFailure`` if a file cannot be used.
    func settings(for server: ServerSettings) throws -> ACMESettings? {
        guard let acmeContact, let directory = AuthorityURL(acmeDirectory) else { return nil }
        return ACMESettings(
            directory: directory, contact: acmeContact.trimmingWhitespace(),
            hosts: [server.issuer.host] + (server.callbackOrigin.map { [$0.host] } ?? []),
            root: try acmeRoot.map { try roots(in: $0) }, externalAccount: try externalAccount(),
            challenge: acmeChallenge)
    }

    private func roots(in path: String) throws(CommandFailure) -> AuthorityRoots {
        let text = try RegularFile.text(at: path, for: "--acme-root", limit: Self.limit)
        do { return try AuthorityRoots(pem: text) } catch {
            throw .refused("--acme-root: cannot use the file \(path): \(error)")
        }
    }

    private func externalAccount() throws -> ExternalAccount? {
        guard let acmeEabKid, let acmeEabKeyFile else { return nil }
        let key = try RegularFile.text(
            at: acmeEabKeyFile, for: "--acme-eab-key-file", limit: Self.limit, isSecret: true)
        guard let account = ExternalAccount(keyIdentifier: acmeEabKid, key: key) else {
            throw CommandFailure.refused(
                "--acme-eab-key-file: \(acmeEabKeyFile) contains no key in base64url; store the one that the authority "
                    + "has given you")
        }
        return account
    }
}

import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer

/// The options of `serve` for TLS without a reverse proxy.
struct TLSOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "A PEM file with the certificate and its chain, for TLS without a proxy. (default: none)",
            valueName: "file"))
    var tlsCertificate: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The PEM file with the private key of the certificate.", valueName: "file"))
    var tlsKey: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The address that redirects plain http to https: HOST:PORT, such as 0.0.0.0:80, or systemd:NAME. "
                + "(default: none)",
            valueName: "address"))
    var redirectListen: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time for which browsers use only https, in Strict-Transport-Security of an https issuer, 0s to 3650d. "
                + "With 0, browsers forget it.",
            valueName: "time"))
    var hstsMaxAge = Seconds(ServerSettings.standardStrictTransportAge)

    func validate() throws {
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key require each other.")
        }
        guard tlsCertificate?.isEmpty != true, tlsKey?.isEmpty != true else {
            throw ValidationError("--tls-certificate and --tls-key cannot be empty.")
        }
        try SettingForm.check(hstsMaxAge.value, of: "hsts-max-age")
        if let redirectListen {
            do { try ListenOptions.Choice(redirectListen).checkForRedirect() } catch {
                throw ValidationError("--redirect-listen \(redirectListen): \(error).")
            }
        }
    }

    /// Throws if an option contradicts the issuer.
    func check(_ issuer: Issuer) throws {
        guard !issuer.isSecure else { return }
        if tlsCertificate != nil { throw ValidationError("--tls-certificate requires an https issuer.") }
        if redirectListen != nil { throw ValidationError("--redirect-listen requires an https issuer.") }
    }

    /// The files of the certificate; nil without the options.
    func files(for settings: ServerSettings) -> CertificateFiles? {
        guard let tlsCertificate, let tlsKey else { return nil }
        let hosts = [settings.issuer.host] + (settings.callbackOrigin.map { [$0.host] } ?? [])
        return CertificateFiles(certificate: tlsCertificate, key: tlsKey, hosts: hosts)
    }
}

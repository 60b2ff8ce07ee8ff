import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer

extension Settings {
    static let tlsCertificate = Setting<String?>(
        "tls-certificate", .text, value: "file", example: "/etc/counterfoil/fullchain.pem", isLive: true,
        "A PEM file with the certificate and its chain, for TLS without a proxy. (default: none)")
    static let tlsKey = Setting<String?>(
        "tls-key", .text, value: "file", example: "/etc/counterfoil/privkey.pem", isLive: true,
        "The PEM file with the private key of the certificate.")
    static let redirectListen = Setting<ListenOptions.Choice?>(
        "redirect-listen", .redirect, value: "address", example: "0.0.0.0:80",
        "The address that redirects plain http to https: HOST:PORT, such as 0.0.0.0:80, or systemd:NAME. "
            + "(default: none)")
    static let hstsMaxAge = Setting(
        "hsts-max-age", .time(0...3650 * 86_400), default: ServerSettings.standardStrictTransportAge,
        to: \.strictTransportAge, value: "time",
        "The time for which browsers use only https, in Strict-Transport-Security of an https issuer, 0s to 3650d. With "
            + "0, browsers forget it.")
}

extension SettingForm<ListenOptions.Choice> {
    fileprivate static let redirect = SettingForm(
        .text("^(.+:[0-9]{1,5}|systemd:[^:]+)$"),
        read: { text throws(SettingRefusal) in
            do {
                let choice = try ListenOptions.Choice(text)
                try choice.checkForRedirect()
                return choice
            } catch { throw .text(text, "\(error)") }
        }, text: { "\($0)" })
}

/// The options of `serve` for TLS without a reverse proxy.
struct TLSOptions: SettingGroup {
    static let title = "TLS"

    @Option(Settings.tlsCertificate) var certificate: String?
    @Option(Settings.tlsKey) var key: String?
    @Option(Settings.redirectListen) var redirectListen: String?
    @Option(Settings.hstsMaxAge) var hstsMaxAge: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.tlsCertificate, \.certificate), .init(Settings.tlsKey, \.key),
        .init(Settings.redirectListen, \.redirectListen), .init(Settings.hstsMaxAge, \.hstsMaxAge),
    ]
}

extension ServeConfiguration {
    /// Throws if the settings for TLS contradict each other or the issuer.
    func checkTLS() throws(SettingMistake) {
        guard (self[Settings.tlsCertificate] == nil) == (self[Settings.tlsKey] == nil) else {
            throw SettingMistake("\(Settings.tlsCertificate) and \(Settings.tlsKey) require each other.")
        }
        guard !settings.issuer.isSecure else { return }
        if self[Settings.tlsCertificate] != nil {
            throw SettingMistake("\(Settings.tlsCertificate) requires an https issuer.")
        }
        if self[Settings.redirectListen] != nil {
            throw SettingMistake("\(Settings.redirectListen) requires an https issuer.")
        }
    }

    /// The files of the certificate; nil without the settings.
    var certificateFiles: CertificateFiles? {
        guard let certificate = self[Settings.tlsCertificate], let key = self[Settings.tlsKey] else { return nil }
        return CertificateFiles(certificate: certificate, key: key, hosts: hosts)
    }

    /// The hosts that the certificate of the server must name.
    var hosts: [String] { Self.hosts(of: settings) }

    static func hosts(of settings: ServerSettings) -> [String] {
        [settings.issuer.host] + (settings.callbackOrigin.map { [$0.host] } ?? [])
    }
}

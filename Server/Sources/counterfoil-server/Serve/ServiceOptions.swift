import ArgumentParser
import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer

extension Settings {
    static let issuer = Setting<Issuer?>(
        "issuer", .issuer, value: "url", example: "https://id.example.com", isRequired: true,
        shared: { $0.issuer.rawValue }, "The public URL of this server, as browsers and clients use it.")
    static let siteName = Setting<String?>(
        "site-name", .given(.notEmpty), value: "name",
        administration: "/admin/branding, or with counterfoil-server branding edit --name",
        shared: { "\($0.siteName)" }, "The service name shown on pages. (default: the host of the issuer)")
    static let defaultAudience = Setting<String?>(
        "default-audience", .text, value: "audience", example: "https://api.example.com", isLive: true,
        shared: { $0.defaultAudience },
        "The audience (aud) of access tokens that are for no registered API. (default: the issuer)")
    static let endpointAliases = Setting(
        "endpoint-alias", .endpointAliases, default: EndpointAliases(), value: "endpoint=path",
        example: "token=/connect/token",
        shared: { $0.endpointAliases.all.map { "\($0.endpoint)=\($0.path)" }.sorted().joined(separator: " ") },
        "A second path of an endpoint, such as token=/connect/token. The endpoint is authorization, token, revocation "
            + "or userinfo. Can be repeated.",
        use: { $1.endpointAliases = $0 })
    static let callbackOrigin = Setting<String?>(
        "callback-origin", .given(.text("^https://[^/]+$")), value: "origin", example: "https://apps.example.com",
        shared: { $0.callbackOrigin?.rawValue ?? "" },
        "A second https origin, only for redirect URIs of native apps. (default: none)")
    static let keyLifetime = Setting(
        "key-lifetime", .days(1...3650), default: ServerSettings.standardKeyLifetime, to: \.keyLifetime,
        value: "days",
        "The age at which a signing key is rotated, 1 to 3650 days. A number without a unit is in days.")
    static let auditRetention = Setting(
        "audit-retention", .daysOrForever(1...36_500), default: ServerSettings.standardAuditRetention,
        to: \.auditRetention, value: "days",
        "The time to keep audit log events, 1 to 36500 days, or forever. A number without a unit is in days.")
}

extension SettingForm<Issuer> {
    fileprivate static let issuer = SettingForm(
        .text("^https?://"),
        read: { text throws(SettingRefusal) in
            do { return try Issuer(text) } catch { throw .text(text, "\(error)") }
        }, text: { $0.rawValue })
}

extension SettingForm<EndpointAliases> {
    fileprivate static let endpointAliases = SettingForm(
        listOf: .text("^(authorization|token|revocation|userinfo)=/.+$"),
        read: { texts throws(SettingRefusal) in
            var aliases = EndpointAliases()
            for text in texts {
                do { try aliases.add(text, beside: .console) } catch { throw .text(text, "\(error)") }
            }
            return aliases
        })
}

/// The options of `serve` for its place and its name, and for what concerns the whole service.
struct ServiceOptions: SettingGroup {
    static let title = "Server"

    @Option(Settings.issuer) var issuer: String?
    @Option(Settings.siteName) var siteName: String?
    @Option(Settings.defaultAudience) var defaultAudience: String?
    @Option(Settings.endpointAliases) var endpointAliases: [String]
    @Option(Settings.callbackOrigin) var callbackOrigin: String?
    @Option(Settings.keyLifetime) var keyLifetime: String?
    @Option(Settings.auditRetention) var auditRetention: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.issuer, \.issuer), .init(Settings.siteName, \.siteName),
        .init(Settings.defaultAudience, \.defaultAudience), .init(Settings.endpointAliases, \.endpointAliases),
        .init(Settings.callbackOrigin, \.callbackOrigin), .init(Settings.keyLifetime, \.keyLifetime),
        .init(Settings.auditRetention, \.auditRetention),
    ]
}

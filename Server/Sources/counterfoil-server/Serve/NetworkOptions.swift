import ArgumentParser
import CounterfoilServer
import CounterfoilWeb
import HTTPListener
import HTTPTypes

extension Settings {
    static let trustedProxies = Setting(
        "trusted-proxy",
        SettingForm(listOf: .text("^(unix|[0-9A-Fa-f:.]+(/[0-9]{1,3})?)$")) { texts throws(SettingRefusal) in
            do { return try TrustedProxies(texts) } catch { throw .reason("\(error)") }
        },
        default: .none, value: "cidr", example: "127.0.0.1", isLive: true,
        "A proxy whose X-Forwarded-For is trusted, such as 127.0.0.1 or 10.0.0.0/8, or unix for Unix sockets. Can be "
            + "repeated.")
    static let crossOriginFields = Setting(
        "cors-header", .headerNames, default: [], value: "name", example: "X-Datadog-Trace-Id", isLive: true,
        shared: { $0.crossOriginFields.map { $0.lowercased() }.sorted().joined(separator: " ") },
        "A header that scripts of other origins may send, besides those of the protocols and of tracing. Can be "
            + "repeated.",
        use: { names, settings in
            let known = Set(settings.crossOriginFields.map { $0.lowercased() })
            settings.crossOriginFields += names.filter { !known.contains($0.lowercased()) }
        })
    static let outboundNetworks = Setting(
        "outbound-network",
        SettingForm(listOf: .text("^[0-9A-Fa-f:.]+/[0-9]{1,3}$")) { texts throws(SettingRefusal) in
            do { return try OutboundNetworks(texts) } catch { throw .reason("\(error)") }
        },
        default: .none, value: "cidr", example: "10.20.0.0/16",
        "A private network that outbound requests may reach, such as 10.20.0.0/16. Everyone who may register apps can "
            + "make the server connect to it. Can be repeated.")
    static let outboundAuthorities = Setting<String?>(
        "outbound-ca", .text, value: "file", example: "/etc/counterfoil/authorities.pem",
        "A PEM file of certificate authorities that outbound requests trust in addition to those of the system.")
}

extension SettingForm<[String]> {
    fileprivate static let headerNames = SettingForm<String>(
        .text("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"),
        read: { name throws(SettingRefusal) in
            guard HTTPField.Name(name) != nil else {
                throw .text(name.debugDescription, "this is not the name of a header, such as X-Request-Id")
            }
            return name
        }, text: { $0 }
    ).list()
}

/// The options of `serve` for proxies, scripts of other origins and outbound requests.
struct NetworkOptions: SettingGroup {
    static let title = "Network"

    @Option(Settings.trustedProxies) var trustedProxies: [String]
    @Option(Settings.crossOriginFields) var crossOriginFields: [String]
    @Option(Settings.outboundNetworks) var outboundNetworks: [String]
    @Option(Settings.outboundAuthorities) var outboundAuthorities: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.trustedProxies, \.trustedProxies), .init(Settings.crossOriginFields, \.crossOriginFields),
        .init(Settings.outboundNetworks, \.outboundNetworks),
        .init(Settings.outboundAuthorities, \.outboundAuthorities),
    ]
}

extension ServeConfiguration {
    /// Returns the rules for outbound requests, with the networks and certificate authorities of the settings.
    func outboundRules() throws(CommandFailure) -> OutboundRules {
        guard let path = self[Settings.outboundAuthorities] else {
            return OutboundRules(networks: self[Settings.outboundNetworks])
        }
        let name = words("\(Settings.outboundAuthorities)")
        let text = try RegularFile.text(at: path, for: name, limit: 1 << 20)
        do {
            return OutboundRules(
                networks: self[Settings.outboundNetworks], authorities: try OutboundAuthorities(pem: text))
        } catch {
            throw .refused("\(name): cannot use the file \(path): \(error)")
        }
    }
}

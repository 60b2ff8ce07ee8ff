import CounterfoilProtocol
import CounterfoilServer

/// The settings that the servers on one database must have alike, as texts by the names of the options.
///
/// Each of them changes an answer, so that with different values an answer depends on the server that gives it. A new
/// setting goes into ``init(_:serverKey:)`` or into ``ofOneServer``.
struct SharedSettings: Sendable, Hashable {
    /// The texts by the names of the settings; none contains a secret.
    let texts: [String: String]

    /// The settings that can differ: those of the machine of a server, and of what is around it.
    static let ofOneServer: Set<String> = [
        "acme-challenge", "acme-contact", "acme-directory", "acme-eab-key-file", "acme-eab-kid", "acme-root",
        "acme-terms-agreed", "connections", "data-dir", "database", "database-connections", "drain-delay",
        "endings-journal", "listen", "log-format", "log-level", "metrics-listen", "outbound-ca", "outbound-network",
        "redirect-listen", "server-key-file", "stop-timeout", "tls-certificate", "tls-key", "trusted-proxy",
    ]

    /// The name of the server keys among the settings: their fingerprints, the current one first.
    static let serverKey = "server-key"

    init(texts: [String: String]) { self.texts = texts }

    /// - Parameters:
    ///   - settings: The settings in use.
    ///   - serverKey: The server key, of which only the fingerprints are taken.
    init(_ settings: ServerSettings, serverKey: ServerKey) {
        func time(_ seconds: Int) -> String { Seconds(seconds).description }
        func list(_ values: some Sequence<String>) -> String { values.joined(separator: " ") }
        let limits = settings.signInLimits
        texts = [
            "access-token-lifetime": time(settings.accessTokenLifetime),
            "applications-per-developer": "\(settings.applicationsPerDeveloper)",
            "approvals-per-user": "\(settings.approvalsPerMinute)",
            "audit-retention": settings.auditRetention.map { "\($0)" } ?? "forever",
            "callback-origin": settings.callbackOrigin?.rawValue ?? "",
            "code-lifetime": time(settings.codeLifetime),
            "cors-header": list(settings.crossOriginFields.map { $0.lowercased() }.sorted()),
            "default-audience": settings.defaultAudience,
            "device-code-lifetime": time(settings.deviceCodeLifetime),
            "endpoint-alias": list(settings.endpointAliases.all.map { "\($0.endpoint)=\($0.path)" }.sorted()),
            "failures-per-person": "\(limits.failuresPerPerson)",
            "failures-per-source": "\(limits.failuresPerSource)",
            "hsts-max-age": "\(settings.strictTransportAge)",
            "id-token-lifetime": time(settings.idTokenLifetime),
            "issuer": settings.issuer.rawValue,
            "key-lifetime": "\(settings.keyLifetime)",
            "lowercase-token-type": "\(settings.lowercasesTokenType)",
            "no-development-redirect-uris": "\(!settings.allowsDevelopmentRedirectURIs)",
            "page-lifetime": time(settings.pageLifetime),
            "plain-scheme": list(settings.plainSchemes.sorted()),
            "pushed-request-lifetime": time(settings.pushedRequestLifetime),
            "recent-sign-in": time(settings.recentSignInAge),
            "refresh-idle-lifetime": time(settings.refreshTokenIdleLifetime),
            "refresh-lifetime": time(settings.refreshTokenLifetime),
            "registration": settings.registration.rawValue,
            "registrations-per-hour": "\(settings.registrationsPerHour)",
            "registrations-per-source": "\(settings.registrationsPerSource)",
            "require-dpop-nonce": "\(settings.requiresProofNonce)",
            "require-pushed-requests": "\(settings.requiresPushedRequests)",
            "session-idle-lifetime": time(settings.sessionIdleLifetime),
            "session-lifetime": time(settings.sessionLifetime),
            "sign-in-delay-from": "\(limits.delayFromFailure)",
            "sign-in-window": time(limits.window),
            "site-name": "\(settings.siteName)",
            "unregistered-clients": settings.unregisteredClients.map { list($0.map(\.rawValue).sorted()) } ?? "policy",
            Self.serverKey: list(serverKey.fingerprints),
        ]
    }
}

/// A running server on a database, and its settings.
struct ServerOnDatabase: Sendable, Hashable, Codable {
    /// The name of the machine.
    let host: String
    /// The identifier of the process on the machine.
    let process: Int32
    /// The texts of ``SharedSettings``.
    let settings: [String: String]

    /// The machine and the process.
    var name: String { "\(host) (process \(process))" }
}

/// A setting that has not the same value at every server.
struct SettingDifference: Sendable, Hashable {
    let setting: String
    /// The names of the servers by the value of the setting.
    let servers: [String: [String]]

    /// Compares the settings of servers; the result is in the order of the names.
    ///
    /// A setting that a server of another version does not have is not compared with it.
    static func all(among servers: [ServerOnDatabase]) -> [SettingDifference] {
        Set(servers.flatMap(\.settings.keys)).sorted().compactMap { setting in
            var names: [String: [String]] = [:]
            for server in servers {
                if let value = server.settings[setting] { names[value, default: []].append(server.name) }
            }
            return names.count > 1 ? SettingDifference(setting: setting, servers: names.mapValues { $0.sorted() }) : nil
        }
    }

    /// The values with their servers, the value of the most servers first.
    var text: String {
        let values = servers.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        return "\(setting): "
            + values.map { "\(Self.shown($0.key)) at \($0.value.joined(separator: ", "))" }.joined(separator: "; ")
    }

    /// The setting and its values, without the servers.
    var values: [String] { [setting] + servers.keys.sorted() }

    private static func shown(_ value: String) -> String {
        value.isEmpty ? "none" : value.count > 100 ? value.prefix(100) + "…" : value
    }
}

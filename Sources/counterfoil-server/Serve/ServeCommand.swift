import ArgumentParser
import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilWeb
import Foundation
import Logging

/// The command `serve`, which runs the authorization server.
struct ServeCommand: ConfiguredCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the authorization server.",
        discussion: """
            A missing data directory is created. While there is no administrator, each start prints a link that \
            creates one. SIGTERM and SIGINT stop the server after the requests that it is answering: /readyz fails at \
            once, and a second signal ends the delay of --drain-delay.

            Example:
              counterfoil-server serve --data-dir ./data \\
                --issuer http://localhost:8080 --listen 127.0.0.1:8080

            With a certificate, TCP ports speak TLS, and Unix sockets do not: they are for a proxy on this machine. \
            --trusted-proxy unix believes the addresses that it forwards. The user and the group of the server can \
            connect to a Unix socket.

            An https issuer needs TLS: by --tls-certificate and --tls-key, or by a reverse proxy. Name a proxy with \
            --trusted-proxy, so that rate limits apply to client addresses. The two files are read again when they \
            change, and on SIGHUP. No connection is lost. Files that fail the check change nothing.

            With --acme-contact and --acme-terms-agreed, the server orders its certificate from an authority such as \
            Let's Encrypt, and renews it. The authority must reach --listen on port 443, or with --acme-challenge \
            http-01 --redirect-listen on port 80. The certificate and its key are in the database, and the key is \
            encrypted with the server key.

            Each option is a setting. --config names a YAML file in which its name without dashes is a key, such as \
            listen: 127.0.0.1:8080. The environment variable has the same name, such as COUNTERFOIL_LISTEN. An option \
            overrides the variable, and the variable overrides the file. --site-name and --unregistered-clients are \
            options only. SIGHUP reads the file again; counterfoil-server config has more.

            --endpoint-alias supports clients with the hard-coded paths of another server. It adds a second path \
            under the issuer for the same endpoint. The server metadata lists the first path only. The audience of a \
            client assertion can name either.

            --callback-origin adds a second origin to this server. The proxy must forward its Host field. This origin \
            serves the redirect URIs of native apps and the files that associate the apps with them. It has no sign-in \
            pages. With this option, requests for any other host get status 421.

            --unregistered-clients overrides the policy for unregistered apps while this server runs, and the \
            administration pages show it. Without it, the policy decides, which accepts none at first.

            The server key is a file in the data directory that only its owner can read. If the environment variable \
            COUNTERFOIL_SERVER_KEY is set, it is used instead and no file is created. Its value is 32 bytes in \
            base64url. With --database, the key comes from this variable or from --server-key-file.

            With --database, the tables must be those of this version: run counterfoil-server migrate first. A server \
            that starts while the database does not answer waits for it.
            """
    )

    @OptionGroup var location: InstallationOption

    @Option(
        name: .long,
        help: ArgumentHelp("The public URL of this server, as browsers and clients use it.", valueName: "url"))
    var issuer: String

    @OptionGroup(title: "Listening and stopping") var listening: ListenOptions

    @Option(
        name: .long,
        help: ArgumentHelp("The service name shown on pages. (default: the host of the issuer)", valueName: "name"))
    var siteName: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The audience (aud) of access tokens that are for no registered API. (default: the issuer)",
            valueName: "audience"))
    var defaultAudience: String?

    @Option(
        name: .customLong("endpoint-alias"),
        help: ArgumentHelp(
            "A second path of an endpoint, such as token=/connect/token. The endpoint is authorization, token, "
                + "revocation or userinfo. Can be repeated.",
            valueName: "endpoint=path"))
    var endpointAliases: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A second https origin, only for redirect URIs of native apps. (default: none)",
            valueName: "origin"))
    var callbackOrigin: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The age at which a signing key is rotated, 1 to 3650 days. A number without a unit is in days.",
            valueName: "days"))
    var keyLifetime = Days(SigningKeyLifecycle.standardLifetime)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time to keep audit log events, 1 to 36500 days, or forever. A number without a unit is in days.",
            valueName: "days"))
    var auditRetention = AuditRetention(days: ServerSettings.standardAuditRetention)

    @OptionGroup(title: "App registration") var registration: RegistrationOptions
    @OptionGroup(title: "Requirements") var requirements: RequirementOptions
    @OptionGroup(title: "Lifetimes") var lifetimes: LifetimeOptions
    @OptionGroup(title: "Limits") var limits: LimitOptions
    @OptionGroup(title: "Sign-in") var signIn: SignInOptions
    @OptionGroup(title: "TLS") var tls: TLSOptions
    @OptionGroup(title: "Certificate of an authority (ACME)") var acme: ACMEOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringOptions
    @OptionGroup(title: "Restore") var endings: EndingsOptions

    func validate() throws {
        guard defaultAudience?.isEmpty != true else { throw ValidationError("--default-audience cannot be empty.") }
        let issuer: Issuer
        do { issuer = try Issuer(self.issuer) } catch { throw ValidationError("--issuer \(self.issuer): \(error).") }
        var aliases = EndpointAliases()
        for alias in endpointAliases {
            do { try aliases.add(alias, beside: .console) } catch {
                throw ValidationError("--endpoint-alias \(alias): \(error).")
            }
        }
        if let callbackOrigin {
            do { _ = try CallbackOrigin(callbackOrigin, issuer: issuer) } catch {
                throw ValidationError("--callback-origin \(callbackOrigin): \(error).")
            }
        }
        try tls.check(issuer)
        try acme.check(
            issuer, callbackOrigin: callbackOrigin.map { try CallbackOrigin($0, issuer: issuer) }, tls: tls,
            listening: listening)
        try SettingForm.check(keyLifetime.value, of: "key-lifetime")
        if let days = auditRetention.days { try SettingForm.check(days, of: "audit-retention") }
    }

    func run() async throws { try await run(reloading: nil, settingsFile: nil) }

    func run(with context: SettingsContext) async throws {
        let logger = monitoring.log.logger
        for variable in UnknownVariable.all(in: context.invocation.environment) {
            logger.warning(
                "ignored an unknown environment variable",
                metadata: ["variable": "\(variable.name)", "advice": "\(variable.advice)"])
        }
        try await run(reloading: SettingsReload(context), settingsFile: context.settings.path)
    }

    private func run(reloading reload: SettingsReload?, settingsFile: String?) async throws {
        let settings = try settings()
        let outbound = try network.outboundRules()
        let log = monitoring.log
        let traces = try TraceExport(logger: log.logger)
        let place = try location.place.limited(to: limits.databaseConnections)
        let listeners = try listening.listeners(redirecting: tls.redirectListen)
        try acme.check(listeners)
        let server = try await RunningServer(
            at: place,
            settings: settings,
            listeners: listeners,
            metrics: try monitoring.metricsListen.map { try ListenAddress($0) },
            certificate: tls.files(for: settings),
            acme: try acme.settings(for: settings),
            trustedProxies: try TrustedProxies(network.trustedProxies),
            connections: ConnectionLimits(total: limits.connections),
            outbound: outbound,
            log: log,
            files: files(besides: settingsFile),
            traces: traces,
            reload: reload
        )
        try await server.run { opened, addresses in
            let names = addresses.map(\.sentence).joined(separator: " and ")
            var metadata: Logger.Metadata = ["issuer": "\(settings.issuer)", place.key: "\(place)"]
            metadata["listen"] = "\(addresses.map { "\($0.address)" }.joined(separator: " "))"
            if let first = addresses.first, let host = first.host, let port = first.port {
                metadata["host"] = "\(host)"
                metadata["port"] = "\(port)"
            }
            log.report(
                "started the server", metadata: metadata,
                sentence: "Counterfoil serves \(settings.issuer) on \(names), with the data in \(place).")
            if let link = opened.setupLink {
                log.report(
                    "created the link for the first administrator", metadata: ["link": "\(link)"],
                    sentence: "There is no administrator yet. Open this link to create one:\n\(link)")
            }
        }
    }

    /// The settings that administration commands need, from a settings file.
    func noted(in settingsFile: String) throws -> NotedSettings {
        NotedSettings(try settings(), connections: limits.connections, files: files(besides: settingsFile))
    }

    /// The files outside of the data directory that the server uses.
    private func files(besides settingsFile: String?) -> NotedSettings.Files {
        let paths: [NotedSettings.File: String?] = [
            .endingsJournal: endings.path, .settings: settingsFile, .tlsKey: tls.tlsKey,
            .externalAccountKey: acme.acmeEabKeyFile, .serverKey: location.serverKeyFile,
        ]
        return paths.compactMapValues { $0 }.mapValues { URL(fileURLWithPath: $0).standardizedFileURL.path }
    }

    func settings() throws -> ServerSettings {
        var settings = ServerSettings(
            issuer: try Issuer(issuer),
            siteName: siteName.map { DisplayName($0) },
            defaultAudience: defaultAudience
        )
        settings.registration = registration.policy
        settings.applicationsPerDeveloper = registration.applicationsPerDeveloper
        settings.registrationsPerSource = registration.registrationsPerSource
        settings.registrationsPerHour = registration.registrationsPerHour
        settings.unregisteredClients = registration.unregisteredClients?.kinds
        settings.plainSchemes = Set(registration.plainSchemes)
        settings.allowsDevelopmentRedirectURIs = !registration.refusesDevelopmentRedirectURIs
        settings.requiresPushedRequests = requirements.requiresPushedRequests
        settings.requiresProofNonce = requirements.requiresProofNonce
        settings.lowercasesTokenType = requirements.lowercasesTokenType
        let known = Set(settings.crossOriginFields.map { $0.lowercased() })
        settings.crossOriginFields += network.crossOriginFields.filter { !known.contains($0.lowercased()) }
        for alias in endpointAliases { try settings.endpointAliases.add(alias, beside: .console) }
        settings.callbackOrigin = try callbackOrigin.map { try CallbackOrigin($0, issuer: settings.issuer) }
        settings.keyLifetime = keyLifetime.value
        settings.auditRetention = auditRetention.days
        settings.signInLimits.failuresPerPerson = limits.failuresPerPerson
        settings.signInLimits.failuresPerSource = limits.failuresPerSource
        settings.approvalsPerMinute = limits.approvalsPerUser
        signIn.apply(to: &settings.signInLimits)
        lifetimes.apply(to: &settings)
        settings.strictTransportAge = tls.hstsMaxAge.value
        return settings
    }
}

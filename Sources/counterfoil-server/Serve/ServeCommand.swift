public import ArgumentParser
import CounterfoilConsole
import CounterfoilProtocol
public import CounterfoilServer
import CounterfoilWeb
import Foundation
import Logging

/// `serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the authorization server.",
        discussion: """
            While there is no administrator, each start prints a link that creates one. SIGTERM and SIGINT stop the \
            server after the requests that it is answering.

            Example:
              counterfoil-server serve --data-dir ./data \\
                --issuer http://localhost:8080 --listen 127.0.0.1:8080

            With an https issuer, terminate TLS in a reverse proxy. Name the proxy with --trusted-proxy, so that rate \
            limits apply to client addresses.

            --endpoint-alias supports clients with the hard-coded paths of another server. It adds a second path \
            under the issuer for the same endpoint. The server metadata lists the first path only. The audience of a \
            client assertion can name either.

            --callback-origin adds a second origin to this server. The proxy must forward its Host field. This origin \
            serves the redirect URIs of native apps and the files that associate the apps with them. It has no sign-in \
            pages. With this option, requests for any other host get status 421.

            The server key is a file in the data directory that only its owner can read. If the environment variable \
            COUNTERFOIL_SERVER_KEY is set, it is used instead and no file is created. Its value is 32 bytes in \
            base64url.
            """
    )

    @Option(name: .long, help: "The data directory; created if missing.")
    var dataDir: String

    @Option(name: .long, help: "The public URL of this server, as browsers and clients use it.")
    var issuer: String

    @Option(name: .long, help: "The host and port to listen on, as HOST:PORT.")
    var listen: String

    @Option(name: .long, help: "The service name shown on pages. (default: the host of the issuer)")
    var siteName: String?

    @Option(name: .long, help: "The audience (aud) of access tokens. (default: the issuer)")
    var defaultAudience: String?

    @Option(name: .long, help: ArgumentHelp("Who may register apps at /apps.", valueName: "who"))
    var registration = RegistrationPolicy.everyone

    @Option(name: .long, help: ArgumentHelp("The number of apps that one developer may register.", valueName: "n"))
    var applicationsPerDeveloper = 50

    @Option(
        name: .customLong("plain-scheme"),
        help: ArgumentHelp(
            "A scheme without a period that redirect URIs may use, besides cursor and vscode. Can be repeated.",
            valueName: "scheme"))
    var plainSchemes: [String] = []

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
            "The number of wrong passwords in 15 minutes that blocks sign-in for one user.", valueName: "n"))
    var failuresPerPerson = 10

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of wrong passwords in 15 minutes that blocks sign-in from one client address.", valueName: "n"))
    var failuresPerSource = 100

    @Option(
        name: .long,
        help: ArgumentHelp("The number of authorizations that one user may approve in a minute.", valueName: "n"))
    var approvalsPerUser = 60

    @Option(
        name: .long,
        help: ArgumentHelp("The age at which a signing key is rotated.", valueName: "days"))
    var keyLifetime = KeySuccession.standardLifetime

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The retention of audit log events: a number of days, or forever.",
            valueName: "days"))
    var auditRetention = AuditRetention(days: ServerSettings.standardAuditRetention)

    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            "A proxy whose X-Forwarded-For is trusted, such as 127.0.0.1 or 10.0.0.0/8. Can be repeated.",
            valueName: "cidr"))
    var trustedProxies: [String] = []

    @Option(
        name: .customLong("outbound-network"),
        help: ArgumentHelp(
            "A private network that outbound requests may reach, such as 10.20.0.0/16. Every developer can make the "
                + "server connect to it. Can be repeated.",
            valueName: "cidr"))
    var outboundNetworks: [String] = []

    @Option(
        name: .customLong("outbound-ca"),
        help: ArgumentHelp(
            "A PEM file of certificate authorities that outbound requests trust in addition to those of the system.",
            valueName: "file"))
    var outboundAuthorities: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of connections open at once. One client address may have a tenth of them.", valueName: "n"))
    var connections = ConnectionLimits.standard.total

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The host and port that serve /metrics for Prometheus. Allow access to the monitoring system only. "
                + "(default: none)",
            valueName: "host:port"))
    var metricsListen: String?

    @Option(name: .long, help: "The log level on standard error: error, notice, info or debug.")
    var logLevel = "notice"

    @Option(name: .long, help: "The log format: text for people, or json for one object on each line.")
    var logFormat = LogFormat.text

    func validate() throws {
        guard ["error", "notice", "info", "debug"].contains(logLevel) else {
            throw ValidationError("--log-level must be error, notice, info or debug.")
        }
        guard !dataDir.isEmpty else { throw ValidationError("--data-dir cannot be empty.") }
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
        do { _ = try ListenAddress(listen) } catch { throw ValidationError("--listen \(listen): \(error).") }
        if let metricsListen {
            do { _ = try ListenAddress(metricsListen) } catch {
                throw ValidationError("--metrics-listen \(metricsListen): \(error).")
            }
        }
        do { _ = try TrustedProxies(trustedProxies) } catch { throw ValidationError("--trusted-proxy: \(error).") }
        do { _ = try OutboundNetworks(outboundNetworks) } catch {
            throw ValidationError("--outbound-network: \(error).")
        }
        guard (1...3650).contains(keyLifetime) else {
            throw ValidationError("--key-lifetime must be a number of days from 1 to 3650.")
        }
        for (name, number) in [
            ("--applications-per-developer", applicationsPerDeveloper), ("--failures-per-person", failuresPerPerson),
            ("--failures-per-source", failuresPerSource), ("--approvals-per-user", approvalsPerUser),
        ] where !(1...1_000_000).contains(number) {
            throw ValidationError("\(name) must be a number from 1 to 1000000.")
        }
        guard (ConnectionLimits.minimum...1_000_000).contains(connections) else {
            throw ValidationError("--connections must be a number from \(ConnectionLimits.minimum) to 1000000.")
        }
        for scheme in plainSchemes where !PlainSchemes.isOne(scheme) {
            throw ValidationError(
                "--plain-scheme \(scheme): a plain scheme has 2 to 64 lowercase letters, digits, + and -, starts with "
                    + "a letter, and must not be one that browsers handle themselves.")
        }
    }

    func run() async throws {
        let settings = try settings()
        let outbound = try outboundRules()
        let log = LogFormat.Settings(format: logFormat, level: Logger.Level(rawValue: logLevel) ?? .notice)
        let server = try await RunningServer(
            dataDirectory: dataDir,
            settings: settings,
            listen: try ListenAddress(listen),
            metrics: try metricsListen.map { try ListenAddress($0) },
            trustedProxies: try TrustedProxies(trustedProxies),
            connections: ConnectionLimits(total: connections),
            outbound: outbound,
            log: log
        )
        try await server.run { port in
            let host = server.listen.host
            log.report(
                "started the server",
                metadata: ["issuer": "\(settings.issuer)", "host": "\(host)", "port": "\(port)"],
                sentence: "Counterfoil serves \(settings.issuer) on \(host) port \(port).")
            if let link = server.setupLink {
                log.report(
                    "created the link for the first administrator", metadata: ["link": "\(link)"],
                    sentence: "There is no administrator yet. Open this link to create one:\n\(link)")
            }
        }
    }

    private func outboundRules() throws -> OutboundRules {
        let networks = try OutboundNetworks(outboundNetworks)
        guard let outboundAuthorities else { return OutboundRules(networks: networks) }
        let text: String
        do { text = try InputFile.text(at: outboundAuthorities, limit: 1 << 20) } catch {
            throw CommandFailure.refused("--outbound-ca: \(error.message)")
        }
        do { return OutboundRules(networks: networks, authorities: try OutboundAuthorities(pem: text)) } catch {
            throw CommandFailure.refused("--outbound-ca: cannot use the file \(outboundAuthorities): \(error)")
        }
    }

    private func settings() throws -> ServerSettings {
        var settings = ServerSettings(
            issuer: try Issuer(issuer),
            siteName: siteName.map { DisplayName($0) },
            defaultAudience: defaultAudience
        )
        settings.registration = registration
        settings.applicationsPerDeveloper = applicationsPerDeveloper
        settings.plainSchemes.formUnion(plainSchemes)
        for alias in endpointAliases { try settings.endpointAliases.add(alias, beside: .console) }
        settings.callbackOrigin = try callbackOrigin.map { try CallbackOrigin($0, issuer: settings.issuer) }
        settings.keyLifetime = keyLifetime
        settings.auditRetention = auditRetention.days
        settings.signInLimits.failuresPerPerson = failuresPerPerson
        settings.signInLimits.failuresPerSource = failuresPerSource
        settings.approvalsPerMinute = approvalsPerUser
        return settings
    }
}

extension RegistrationPolicy: ExpressibleByArgument {}

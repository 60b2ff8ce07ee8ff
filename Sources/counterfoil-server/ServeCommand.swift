public import ArgumentParser
import CounterfoilConsole
import CounterfoilProtocol
public import CounterfoilServer
import CounterfoilWeb
import Foundation
import Logging

/// `serve`: the server itself.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the authorization server.",
        discussion: """
            The first start prints a link that makes the administrator, once. SIGTERM and SIGINT end the server after the \
            requests that it is answering.

            Example:
              counterfoil-server serve --data-dir ./data \\
                --issuer http://localhost:8080 --listen 127.0.0.1:8080

            With an https issuer a proxy in front of the server ends TLS; name it with --trusted-proxy, so that the addresses \
            of people count and not its own.

            --endpoint-alias lets clients that have the paths of another server built in go on as they are. A second path is \
            under the issuer and leads to the same endpoint. The metadata name the first path, and a client assertion may \
            name either.

            --callback-origin is a second origin of this server, which the proxy passes on with its Host field. It has the \
            callback addresses of native applications and the files that associate apps with them, and nobody signs in there. \
            A request for any other host is then answered with 421.

            The server key lies in the data directory, in a file that only this user reads. Where COUNTERFOIL_SERVER_KEY is in \
            the environment, 32 bytes in base64url, that is the server key and no file is made.
            """
    )

    @Option(name: .long, help: "The data directory; made when it is missing.")
    var dataDir: String

    @Option(name: .long, help: "The URL of this server as browsers and applications see it.")
    var issuer: String

    @Option(name: .long, help: "The address to listen on, HOST:PORT.")
    var listen: String

    @Option(name: .long, help: "The name that pages show. (default: the host of the issuer)")
    var siteName: String?

    @Option(name: .long, help: "aud of access tokens. (default: the issuer)")
    var defaultAudience: String?

    @Option(name: .long, help: ArgumentHelp("Who registers applications at /apps.", valueName: "who"))
    var registration = RegistrationPolicy.everyone

    @Option(name: .long, help: ArgumentHelp("How many applications one developer may register.", valueName: "n"))
    var applicationsPerDeveloper = 50

    @Option(
        name: .customLong("plain-scheme"),
        help: ArgumentHelp(
            "A scheme without a period that redirect URIs may have beside cursor and vscode; repeat for more than one.",
            valueName: "scheme"))
    var plainSchemes: [String] = []

    @Option(
        name: .customLong("endpoint-alias"),
        help: ArgumentHelp(
            "A second path of an endpoint, such as token=/connect/token, for authorization, token, revocation or userinfo; repeat for more than one.",
            valueName: "endpoint=path"))
    var endpointAliases: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A second https origin, for callback addresses of native applications and nothing else. (default: none)",
            valueName: "origin"))
    var callbackOrigin: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How many wrong passwords within 15 minutes stop the sign-in of one person.", valueName: "n"))
    var failuresPerPerson = 10

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How many wrong passwords within 15 minutes stop the sign-in from one address.", valueName: "n"))
    var failuresPerSource = 100

    @Option(
        name: .long,
        help: ArgumentHelp("How many authorizations one user may approve in a minute.", valueName: "n"))
    var approvalsPerUser = 60

    @Option(
        name: .long,
        help: ArgumentHelp("How old a signing key becomes before the next one takes over.", valueName: "days"))
    var keyLifetime = KeySuccession.standardLifetime

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long the audit log keeps an event before it is deleted: a number of days, or forever.",
            valueName: "days"))
    var auditRetention = AuditRetention(days: ServerSettings.standardAuditRetention)

    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            "A proxy whose X-Forwarded-For is believed, such as 127.0.0.1 or 10.0.0.0/8; repeat for more than one.",
            valueName: "cidr"))
    var trustedProxies: [String] = []

    @Option(
        name: .customLong("outbound-network"),
        help: ArgumentHelp(
            "A private network that outbound requests may reach beside the public internet, such as 10.20.0.0/16; repeat for more "
                + "than one. Every developer can make the server connect to it.",
            valueName: "cidr"))
    var outboundNetworks: [String] = []

    @Option(
        name: .customLong("outbound-ca"),
        help: ArgumentHelp(
            "A file with certificate authorities in PEM form that outbound requests trust beside those of the system.",
            valueName: "file"))
    var outboundAuthorities: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How many connections may be open at once; one address may have a tenth.", valueName: "n"))
    var connections = ConnectionLimits.standard.total

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where Prometheus finds /metrics, HOST:PORT; nobody else should reach it. (default: nowhere)",
            valueName: "host:port"))
    var metricsListen: String?

    @Option(name: .long, help: "How much is logged on standard error: error, notice, info or debug.")
    var logLevel = "notice"

    @Option(name: .long, help: "How it is logged: text for people, or json, an object on each line.")
    var logFormat = LogFormat.text

    func validate() throws {
        guard ["error", "notice", "info", "debug"].contains(logLevel) else {
            throw ValidationError("--log-level is error, notice, info or debug.")
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
            throw ValidationError("--key-lifetime is a number of days from 1 to 3650.")
        }
        for (name, number) in [
            ("--applications-per-developer", applicationsPerDeveloper), ("--failures-per-person", failuresPerPerson),
            ("--failures-per-source", failuresPerSource), ("--approvals-per-user", approvalsPerUser),
        ] where !(1...1_000_000).contains(number) {
            throw ValidationError("\(name) is a number from 1 to 1000000.")
        }
        guard (ConnectionLimits.minimum...1_000_000).contains(connections) else {
            throw ValidationError("--connections is a number from \(ConnectionLimits.minimum) to 1000000.")
        }
        for scheme in plainSchemes where !PlainSchemes.isOne(scheme) {
            throw ValidationError(
                "--plain-scheme \(scheme): a plain scheme has 2 to 64 small letters, digits, + and -, begins with a "
                    + "letter, and is none that browsers open themselves.")
        }
    }

    func run() async throws {
        let settings = try settings()
        let outbound = try outboundRules()
        let server = try await RunningServer(
            dataDirectory: dataDir,
            settings: settings,
            listen: try ListenAddress(listen),
            metrics: try metricsListen.map { try ListenAddress($0) },
            trustedProxies: try TrustedProxies(trustedProxies),
            connections: ConnectionLimits(total: connections),
            outbound: outbound,
            log: LogFormat.Settings(format: logFormat, level: Logger.Level(rawValue: logLevel) ?? .notice)
        )
        try await server.run { port in
            Output.note("Counterfoil serves \(settings.issuer) on \(server.listen.host) port \(port).")
            if let link = server.setupLink {
                Output.note("There is no administrator yet. Open this link once to make one:\n\(link)")
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
            throw CommandFailure.refused("--outbound-ca: the file \(outboundAuthorities) cannot be used: \(error)")
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

/// How long the audit log keeps an event, as `--audit-retention` has it.
struct AuditRetention: ExpressibleByArgument, CustomStringConvertible {
    /// The number of days; nil stands for ever.
    let days: Int?

    init(days: Int?) { self.days = days }

    init?(argument: String) {
        if argument == "forever" {
            days = nil
        } else if let number = Int(argument), (1...36_500).contains(number) {
            days = number
        } else {
            return nil
        }
    }

    var description: String { days.map(String.init) ?? "forever" }

    var defaultValueDescription: String { description }
}

/// Where a server listens.
struct ListenAddress {
    let host: String
    let port: Int

    /// Why a text is not an address to listen on.
    struct Refusal: Error, CustomStringConvertible {
        let description = "an address to listen on is HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080"
    }

    init(_ text: String) throws {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65535).contains(port)
        else { throw Refusal() }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw Refusal() }
        self.host = String(host)
        self.port = port
    }
}

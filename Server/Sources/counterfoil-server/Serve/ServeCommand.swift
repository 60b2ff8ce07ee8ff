import ArgumentParser
import CounterfoilServer
import CounterfoilWeb
import Foundation
import HTTPListener
import Logging

/// The command `serve`, which runs the authorization server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the authorization server.",
        // The settings file and the environment can have them, too.
        usage: "counterfoil-server serve [<options>] --issuer <url> --listen <address> ...",
        discussion: """
            A missing data directory is created. While there is no owner, each start prints a link that \
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

    // Without ``ServeOptions`` around them: in a debug build, ArgumentParser checks an option again, four times, for
    // each group around it, which would make each start a quarter of a second longer.
    @OptionGroup var location: InstallationOption
    @OptionGroup var service: ServiceOptions
    @OptionGroup(title: ListenOptions.title) var listening: ListenOptions
    @OptionGroup(title: RegistrationOptions.title) var registration: RegistrationOptions
    @OptionGroup(title: RequirementOptions.title) var requirements: RequirementOptions
    @OptionGroup(title: LifetimeOptions.title) var lifetimes: LifetimeOptions
    @OptionGroup(title: LimitOptions.title) var limits: LimitOptions
    @OptionGroup(title: SignInLimitOptions.title) var signIn: SignInLimitOptions
    @OptionGroup(title: SignUpOptions.title) var signUp: SignUpOptions
    @OptionGroup(title: ExternalSignInOptions.title) var externalSignIn: ExternalSignInOptions
    @OptionGroup(title: TLSOptions.title) var tls: TLSOptions
    @OptionGroup(title: ACMEOptions.title) var acme: ACMEOptions
    @OptionGroup(title: NetworkOptions.title) var network: NetworkOptions
    @OptionGroup(title: MailOptions.title) var mail: MailOptions
    @OptionGroup(title: MonitoringOptions.title) var monitoring: MonitoringOptions
    @OptionGroup(title: EndingsOptions.title) var endings: EndingsOptions

    var options: ServeOptions {
        var options = ServeOptions()
        options.location = location
        options.service = service
        options.listening = listening
        options.registration = registration
        options.requirements = requirements
        options.lifetimes = lifetimes
        options.limits = limits
        options.signIn = signIn
        options.signUp = signUp
        options.externalSignIn = externalSignIn
        options.tls = tls
        options.acme = acme
        options.network = network
        options.mail = mail
        options.monitoring = monitoring
        options.endings = endings
        return options
    }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let configuration = try options.configuration(environment)
        let log = configuration.values.log
        for variable in UnknownVariable.all(in: environment) {
            log.logger.warning(
                "ignored an unknown environment variable",
                metadata: ["variable": "\(variable.name)", "advice": "\(variable.advice)"])
        }
        let (texts, path) = (options.texts, location.settingsFile)
        let reload = SettingsReload(configuration) { () throws(CommandFailure) in
            try ServeConfiguration(texts, SettingSources(naming: path, environment: environment))
        }
        try await run(configuration, log: log, reloading: reload)
    }

    private func run(
        _ configuration: ServeConfiguration, log: LogFormat.LoggerSettings, reloading reload: SettingsReload
    ) async throws {
        let settings = try configuration.settingsWithKeys()
        let outbound = try configuration.outboundRules()
        let traces = try TraceExport(logger: log.logger)
        let storeLocation = try configuration.values.storeLocation.limited(
            to: configuration[Settings.databaseConnections])
        let listeners = try configuration.listeners()
        try configuration.checkOrders(for: listeners)
        let server = try await RunningServer(
            at: storeLocation,
            settings: settings,
            listeners: listeners,
            metrics: configuration[Settings.metricsListen],
            certificate: configuration.certificateFiles,
            acme: try configuration.orders(),
            trustedProxies: configuration[Settings.trustedProxies],
            connections: ConnectionLimits(total: configuration[Settings.connections]),
            outbound: outbound,
            mail: try configuration.mail(),
            log: log,
            files: configuration.files,
            traces: traces,
            reload: reload
        )
        try await server.run { opened, addresses in
            let names = addresses.map(\.sentence).joined(separator: " and ")
            var metadata: Logger.Metadata = ["issuer": "\(settings.issuer)", storeLocation.key: "\(storeLocation)"]
            metadata["listen"] = "\(addresses.map { "\($0.address)" }.joined(separator: " "))"
            if let first = addresses.first, let host = first.host, let port = first.port {
                metadata["host"] = "\(host)"
                metadata["port"] = "\(port)"
            }
            log.report(
                "started the server", metadata: metadata,
                sentence: "Counterfoil serves \(settings.issuer) on \(names), with the data in \(storeLocation).")
            if let link = opened.setupLink {
                log.report(
                    "created the link for the first administrator", metadata: ["link": "\(link)"],
                    sentence: "There is no owner yet. Open this link to create the account of one:\n\(link)")
            }
        }
    }
}

import ArgumentParser
import CounterfoilServer
import CounterfoilWeb
import Foundation

/// The command `config check`, which validates all settings and the files that they name.
struct ConfigCheck: ConfiguredCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the settings without starting the server.",
        discussion: """
            The command validates every setting, and reads the certificate, the server key and the other files that \
            the settings name. It checks that the endings journal can be written. It opens no database, creates no file and listens on no port. It accepts every option \
            of serve. Run it as the user of the server.

            Example:
              counterfoil-server config check --config /etc/counterfoil/server.yaml
            """
    )

    @OptionGroup(visibility: .hidden) var serve: ServeCommand

    func run() async throws {
        try await serve.checkFiles()
        Output.line("The settings are valid.")
    }

    func run(with context: SettingsContext) async throws {
        for variable in UnknownVariable.all(in: context.invocation.environment) {
            Output.note("warning: the environment variable \(variable.name) is unknown; \(variable.advice)")
        }
        try await serve.checkFiles()
        let origin = context.settings.path ?? "the command line and the environment"
        Output.line("The settings in \(origin) are valid.")
    }
}

extension ServeCommand {
    /// Reads the files for TLS, for the orders of a certificate and for outbound requests; returns the certificate.
    func loadFiles() async throws -> ServerCertificate? {
        let settings = try settings()
        let certificate = try await tls.files(for: settings)?.load()
        _ = try acme.settings(for: settings)
        _ = try network.outboundRules()
        return certificate
    }

    /// Reads the files that the settings name, as a start of the server does.
    func checkFiles() async throws {
        let settings = try settings()
        if let issuer = try await loadFiles()?.unknownIssuer {
            Output.note(
                "warning: --tls-certificate: this machine does not know the issuer “\(issuer)” at the end of the chain")
        }
        try endings.checkWritable()
        try TraceExport.check(ProcessInfo.processInfo.environment)
        switch try location.place {
        case .directory(let path): try DataDirectory.checkServerKey(in: path)
        case .database(let database): _ = try database.serverKey()
        }
        // Whether a socket of systemd is a TCP port is known at the start only.
        let plainHTTP = PlainHTTPWarning(
            settings.issuer, hasCertificate: try acme.settings(for: settings) != nil || tls.files(for: settings) != nil,
            trustedProxies: try TrustedProxies(network.trustedProxies),
            listeners: try listening.listen.compactMap { try ListenOptions.Choice($0).address })
        if let plainHTTP {
            Output.note("warning: \(plainHTTP.message) (listen \(plainHTTP.listen)); \(plainHTTP.advice)")
        }
    }
}

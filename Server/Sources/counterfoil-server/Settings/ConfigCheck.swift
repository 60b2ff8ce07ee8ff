import ArgumentParser
import CounterfoilServer
import CounterfoilWeb
import Foundation
import HTTPListener

/// The command `config check`, which validates all settings and the files that they name.
struct ConfigCheck: AsyncParsableCommand {
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

    @OptionGroup(visibility: .hidden) var options: ServeOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let configuration = try options.configuration(environment)
        for variable in UnknownVariable.all(in: environment) {
            Output.note("warning: the environment variable \(variable.name) is unknown; \(variable.advice)")
        }
        try await configuration.checkFiles(environment)
        let origin = configuration.values.texts.path.map { " in \($0)" } ?? " in the command line and the environment"
        Output.line("The settings\(origin) are valid.")
    }
}

extension ServeConfiguration {
    /// Reads the files for TLS, for the orders of a certificate, for outbound requests, for email and for the sign-in
    /// at a page of the owner.
    ///
    /// - Returns: The certificate.
    func loadFiles() async throws -> ServerCertificate? {
        let certificate = try await certificateFiles?.load(words)
        _ = try orders()
        _ = try outboundRules()
        _ = try mail()
        _ = try settingsWithKeys()
        return certificate
    }

    /// Reads the files that the settings name, as a start of the server does.
    fileprivate func checkFiles(_ environment: [String: String]) async throws {
        if let issuer = try await loadFiles()?.unknownIssuer {
            let name = words("\(Settings.tlsCertificate)")
            Output.note("warning: \(name): this machine does not know the issuer “\(issuer)” at the end of the chain")
        }
        try checkJournal()
        try TraceExport.check(environment)
        switch try values.storeLocation {
        case .directory(let path): try DataDirectory.checkServerKey(in: path)
        case .database(let database): _ = try database.serverKey()
        }
        // Whether a socket of systemd is a TCP port is known at the start only.
        let plainHTTP = PlainHTTPWarning(
            settings.issuer, hasCertificate: self[Settings.acmeContact] != nil || self[Settings.tlsCertificate] != nil,
            trustedProxies: self[Settings.trustedProxies], listeners: self[Settings.listen].compactMap(\.address))
        if let plainHTTP {
            Output.note("warning: \(plainHTTP.message) (listen \(plainHTTP.listen)); \(plainHTTP.advice)")
        }
    }
}

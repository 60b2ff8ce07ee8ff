import ArgumentParser

/// The command group `certificate`, for the certificate that the server orders from an authority.
struct CertificateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate",
        abstract: "Show or renew the certificate that the server orders itself.",
        subcommands: [CertificateShow.self, CertificateRenew.self]
    )
}

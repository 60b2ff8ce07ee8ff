import ArgumentParser
import HTTPTypes

struct CertificateRenew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Request a new certificate from the authority.",
        discussion: """
            A running server orders it within some seconds, whatever the age of the current certificate is, and \
            even if orders have failed before. Use it if the key of the certificate has leaked, or once the cause of \
            failed orders is corrected. Authorities limit the number of orders: Let's Encrypt issues five \
            certificates with the same names in a week.

            Example:
              counterfoil-server certificate renew --data-dir ./data
            """
    )

    @OptionGroup var location: InstallationOption

    @OptionGroup(title: "Another machine") var remote: RemoteOptions

    func run() async throws {
        try await remote.withTransport(on: location, creating: false) { server in
            try await server.change(.post, "/certificate/renewal").accepted()
            Output.note("Requested a new certificate. A running server with --acme-contact orders it now.")
        }
    }
}

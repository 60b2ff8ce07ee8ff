import ArgumentParser
import CounterfoilServer
import CounterfoilStore

struct CertificateShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the certificate that an authority has issued, and failed orders.",
        discussion: """
            Example:
              counterfoil-server certificate show --data-dir ./data
            """
    )

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let stored = StoredCertificate(
                try await installation.store.issuedCertificate(),
                failed: try await installation.store.failedOrders().last)
            if options.json { return try Output.json(stored.document) }
            for line in stored.lines { Output.line(line) }
        }
    }
}

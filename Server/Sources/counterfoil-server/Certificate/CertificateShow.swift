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

    @OptionGroup var options: OperationOptions

    func run() async throws {
        guard !options.remote.isGiven else {
            return try await options.withServer { server in
                guard let certificate = try await server.record(at: "/certificate") else {
                    throw CommandFailure.refused("the server has no certificate; a proxy in front of it speaks TLS")
                }
                try print(certificate)
            }
        }
        // Only a running server knows a certificate from files; the store has that of an authority without one.
        try await options.location.withInstallation(creating: false) { installation in
            let stored = CertificateDocument(
                try await installation.store.issuedCertificate(),
                failed: try await installation.store.failedOrders().last)
            try print(try AdministrationRecord(of: stored))
        }
    }

    private func print(_ certificate: AdministrationRecord) throws {
        if options.json { return try Output.json(certificate) }
        for line in CertificateOutput.lines(of: certificate) { Output.line(line) }
    }
}

import Foundation
import TestSupport

/// The sample API, which accepts the tokens of a site.
enum PhotoAPI {
    /// Runs the API until `body` returns, and passes it the URL of the API.
    static func run<Result>(
        for site: Site, options: [String] = [], _ body: (String) async throws -> Result
    ) async throws -> Result {
        let program = try RunningProgram(
            .photoLibrary,
            ["serve", "--issuer", site.issuer, "--audience", site.issuer, "--listen", "127.0.0.1:0"] + options,
            in: site.folder)
        return try await program.whileRunning {
            let address = try await program.said("where it listens") { program in
                program.output.firstMatch(of: /listens on (http:\S+)\n/).map { String($0.output.1) }
            }
            return try await body(address)
        }
    }
}

import Foundation
import TestSupport

/// The sample API, which accepts the tokens of a site.
enum PhotoAPI {
    /// Runs the API until `body` returns, and passes it the URL of the API.
    ///
    /// - Parameter audience: The resource indicator of the API; nil for the issuer of the site.
    static func run<Result>(
        for site: Site, audience: String? = nil, options: [String] = [], _ body: (String) async throws -> Result
    ) async throws -> Result {
        let program = try RunningProgram(
            .photoLibrary,
            ["serve", "--issuer", site.issuer, "--audience", audience ?? site.issuer, "--listen", "127.0.0.1:0"]
                + options,
            in: site.folder)
        return try await program.whileRunning {
            let address = try await program.said("where it listens") { program in
                program.output.firstMatch(of: /listens on (http:\S+)\n/).map { String($0.output.1) }
            }
            return try await body(address)
        }
    }
}

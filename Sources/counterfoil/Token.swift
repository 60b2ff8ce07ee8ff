import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol
import Foundation

/// `counterfoil token` prints the access token.
struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print only the access token, for use in scripts.",
        discussion: """
            A token that has expired or is about to expire is refreshed first. However many scripts ask at once, only one \
            request is sent to the server.

            Example:
              counterfoil token | my-program --token-from-stdin

            \(ExitStatus.help)
            """
    )

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let credentials = try await common.credentials()
            if common.json {
                try console.result(Bearer(credentials))
            } else {
                console.result(credentials.accessToken.exposed)
            }
        }
    }
}

/// An access token as JSON, with the type, scope and expiration that a script needs to use the token.
private struct Bearer: Encodable {
    let access_token: String
    let token_type: String
    let scope: String
    let expires_at: Date?

    init(_ credentials: Credentials) {
        access_token = credentials.accessToken.exposed
        token_type = credentials.proofKey == nil ? "Bearer" : "DPoP"
        scope = credentials.scope.description
        expires_at = credentials.expires
    }
}

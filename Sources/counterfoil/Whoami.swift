import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol
import Foundation

/// `counterfoil whoami` shows the user who is signed in.
struct Whoami: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the user who is signed in.",
        discussion: """
            The claims come from the UserInfo endpoint of the server, or from the sign-in if the server has none. Both \
            require the scope openid.

            Example:
              counterfoil whoami

            \(ExitStatus.help)
            """
    )

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let credentials = try await common.credentials()
            guard let user = credentials.user else {
                throw Failure(
                    .refused,
                    "the sign-in did not request openid, so the user is unknown; run counterfoil login again with --scope openid"
                )
            }
            var claims = ["sub": user.subject]
            claims["name"] = user.name
            claims["email"] = user.email
            if let userInfo = try await UserInfoRequest().claims(of: credentials) {
                claims.merge(userInfo.claims) { $1 }
            }
            if common.json {
                try console.result(Known(issuer: credentials.issuer.rawValue, claims: claims))
            } else {
                for line in Self.lines(claims, credentials) { console.result(line) }
            }
        }
    }

    /// Formats the claims: name and identifiers first, then the other claims, then the issuer.
    private static func lines(_ claims: [String: String], _ credentials: Credentials) -> [String] {
        let order = ["name", "preferred_username", "email", "sub"]
        let first = order.filter { claims[$0] != nil }
        let rest = claims.keys.filter { !order.contains($0) }.sorted()
        return (first + rest).map { "\($0): \(claims[$0] ?? "")" } + ["server: \(credentials.issuer)"]
    }
}

/// The claims about the user, as JSON.
private struct Known: Encodable {
    let issuer: String
    let claims: [String: String]
}

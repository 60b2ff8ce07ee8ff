import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil whoami` shows the user who is signed in.
struct Whoami: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Show the user who is signed in.",
        discussion: """
            The claims come from the UserInfo endpoint of the server. They come from the sign-in if the server has none, \
            or if the access token is only for an API. Both require the scope openid. The claims acr and amr say how you \
            signed in, if the server states that.

            Example:
              counterfoil whoami

            \(ExitStatus.help)
            """
    )

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let session = try await common.session()
            let credentials = try await session.credentials()
            guard let user = credentials.user else {
                throw Failure(
                    .signInRequired,
                    "the sign-in did not request openid, so the user is unknown; run counterfoil login again with --scope openid"
                )
            }
            var claims = ["sub": ClaimValue.string(user.subject)]
            claims["name"] = user.name.map { .string($0) }
            claims["email"] = user.email.map { .string($0) }
            claims["acr"] = user.authenticationContext.map { .string($0) }
            if !user.authenticationMethods.isEmpty {
                claims["amr"] = .array(user.authenticationMethods.map { .string($0) })
            }
            if let userInfo = try await userInfo(in: session) { claims.merge(userInfo.claims) { $1 } }
            await common.warnIfNotSaved(session)
            if common.json {
                try console.result(ClaimsOutput(issuer: credentials.issuer.rawValue, claims: claims))
            } else {
                for line in Self.lines(claims, credentials) { try console.result(line) }
            }
        }
    }

    private func userInfo(in session: TokenSession) async throws -> UserInfo? {
        do {
            return try await UserInfoRequest().claims(in: session)
        } catch SignInError.refused(let refusal) where refusal.code == .invalidToken {
            let credentials = try await session.credentials()
            if let audience = credentials.foreignAudience {
                common.console.say(
                    "The access token is for \(audience), and not for the server. So the server did not confirm the sign-in, "
                        + "and the claims are those of the sign-in.")
                return nil
            }
            // A refresh would have failed if the sign-in had ended at the server.
            guard credentials.refreshToken == nil else {
                throw Failure(
                    .refused,
                    "\(SignInError.refused(refusal)), and a new access token too; counterfoil doctor examines the server"
                )
            }
            throw Failure(.signInRequired, "\(SignInError.refused(refusal)); run counterfoil login again")
        } catch let error as SignInError {
            throw Failure(ofSignedIn: error)
        }
    }

    /// Formats the claims: name and identifiers first, then the other claims, then the issuer.
    private static func lines(_ claims: [String: ClaimValue], _ credentials: Credentials) -> [String] {
        let order = ["name", "preferred_username", "email", "sub"]
        let first = order.filter { claims[$0] != nil }
        let rest = claims.filter { !order.contains($0.key) && $0.value != .null }.keys.sorted()
        return (first + rest).map { "\($0): \(claims[$0] ?? .null)" } + ["server: \(credentials.issuer)"]
    }
}

/// The claims about the user, as JSON.
private struct ClaimsOutput: Encodable {
    let issuer: String
    let claims: [String: ClaimValue]
}

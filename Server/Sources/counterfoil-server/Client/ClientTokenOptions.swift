import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens

/// The options for the lifetimes, rotation and contents of a client's tokens.
struct ClientTokenOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("When to issue refresh tokens: offline-access, always or never.", valueName: "when"))
    var refreshTokens: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Rotate the refresh token on each use: true or false.", valueName: "bool"))
    var rotateRefreshTokens: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time in which a refresh can be retried with the previous token, 0 to 600.", valueName: "seconds"))
    var refreshGracePeriod: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The lifetime of a refresh token since its last use, 600 to 31536000.", valueName: "seconds"))
    var refreshIdleLifetime: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The total lifetime of refresh tokens, however often they are used, 600 to 63072000.", valueName: "seconds")
    )
    var refreshLifetime: String?

    @Option(
        name: .long, help: ArgumentHelp("The lifetime of its access tokens, 60 to 86400.", valueName: "seconds"))
    var accessTokenLifetime: String?

    @Option(name: .long, help: ArgumentHelp("The lifetime of its ID tokens, 60 to 86400.", valueName: "seconds"))
    var idTokenLifetime: String?

    @Option(
        name: .customLong("id-token-signed-response-alg"),
        help: ArgumentHelp(
            "The signing algorithm of its ID tokens: ES256, RS256, Ed25519 or EdDSA.", valueName: "algorithm"))
    var idTokenAlgorithm: String?

    @Option(
        name: .customLong("user-claims-in-id-token"),
        help: ArgumentHelp(
            "Put the claims of the scopes profile and email into its ID tokens: true or false.", valueName: "bool"))
    var userClaimsInIDToken: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The type of subject identifiers (sub): public, or pairwise for different ones per redirect URI host.",
            valueName: "type"))
    var subjectType: String?

    /// The options that are numbers of seconds, by the members that they become; an empty value is the default.
    private var numbers: [(option: String, member: String, value: String?)] {
        [
            ("--refresh-grace-period", "refresh_grace_period", refreshGracePeriod),
            ("--refresh-idle-lifetime", "refresh_idle_lifetime", refreshIdleLifetime),
            ("--refresh-lifetime", "refresh_lifetime", refreshLifetime),
            ("--access-token-lifetime", "access_token_lifetime", accessTokenLifetime),
            ("--id-token-lifetime", "id_token_lifetime", idTokenLifetime),
        ]
    }

    func validate() throws {
        for (option, _, value) in numbers {
            guard value.map({ $0.isEmpty || Int64($0) != nil }) ?? true else {
                throw ValidationError("\(option) must be a number of seconds.")
            }
        }
        guard rotateRefreshTokens.map(["true", "false", ""].contains) ?? true else {
            throw ValidationError("--rotate-refresh-tokens must be true, false or empty.")
        }
        guard userClaimsInIDToken.map(["true", "false"].contains) ?? true else {
            throw ValidationError("--user-claims-in-id-token must be true or false.")
        }
    }

    /// Writes the given options into the body of a request.
    func write(into members: inout [String: JSONValue]) {
        for (name, value) in [
            ("refresh_tokens", refreshTokens), ("id_token_signed_response_alg", idTokenAlgorithm),
            ("subject_type", subjectType),
        ] {
            if let value { members[name] = .string(value) }
        }
        for (_, name, value) in numbers {
            if let value { members[name] = Int64(value).map { .integer($0) } ?? .null }
        }
        if let rotateRefreshTokens {
            members["rotate_refresh_tokens"] =
                rotateRefreshTokens.isEmpty ? .null : .boolean(rotateRefreshTokens == "true")
        }
        if let userClaimsInIDToken { members["user_claims_in_id_token"] = .boolean(userClaimsInIDToken == "true") }
    }
}

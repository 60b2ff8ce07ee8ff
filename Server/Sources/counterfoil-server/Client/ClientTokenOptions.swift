import ArgumentParser
import CounterfoilServer

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

    /// Whether any option is given.
    var hasChanges: Bool {
        [
            refreshTokens, rotateRefreshTokens, refreshGracePeriod, refreshIdleLifetime, refreshLifetime,
            accessTokenLifetime, idTokenLifetime, idTokenAlgorithm, userClaimsInIDToken, subjectType,
        ].contains { $0 != nil }
    }

    /// Replaces the values of the given options in a draft.
    func write(into draft: inout PolicyDraft) {
        if let refreshTokens { draft.refreshTokens = refreshTokens }
        if let rotateRefreshTokens { draft.rotatesRefreshTokens = rotateRefreshTokens }
        if let refreshGracePeriod { draft.refreshGracePeriod = refreshGracePeriod }
        if let refreshIdleLifetime { draft.refreshIdleLifetime = refreshIdleLifetime }
        if let refreshLifetime { draft.refreshLifetime = refreshLifetime }
        if let accessTokenLifetime { draft.accessTokenLifetime = accessTokenLifetime }
        if let idTokenLifetime { draft.idTokenLifetime = idTokenLifetime }
        if let idTokenAlgorithm { draft.idTokenAlgorithm = idTokenAlgorithm }
        if let userClaimsInIDToken { draft.userClaimsInIDToken = userClaimsInIDToken }
        if let subjectType { draft.subjectType = subjectType }
    }
}

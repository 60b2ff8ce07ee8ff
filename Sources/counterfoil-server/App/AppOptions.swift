import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The options of `app create` and `app edit`, except the name.
///
/// The options are not validated here. `ApplicationRules` validates the draft that they give.
struct AppOptions: ParsableArguments {
    @Option(name: .long, help: "The publisher shown to users.")
    var publisher: String?

    @Option(name: .customLong("redirect-uri"), help: "A redirect URI. Can be repeated.")
    var redirectURIs: [String] = []

    @Option(name: .customLong("scope"), help: "A scope that the app may request. Can be repeated.")
    var scopes: [String] = []

    @Option(
        name: .customLong("optional-scope"),
        help: "A scope of the app that users may decline. Can be repeated.")
    var optionalScopes: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("A Markdown file with the app's text for the consent page.", valueName: "file.md"))
    var consentText: String?

    @Option(name: .customLong("privacy-uri"), help: "The https URL of its privacy policy.")
    var privacyURI: String?

    @Option(name: .customLong("terms-uri"), help: "The https URL of its terms of service.")
    var termsURI: String?

    @Option(name: .long, help: ArgumentHelp("Its logo, a PNG or JPEG file.", valueName: "file"))
    var logo: String?

    @Option(
        name: .customLong("origin"),
        help: "An origin of a single-page app, allowed by CORS. Can be repeated.")
    var origins: [String] = []

    @Option(
        name: .customLong("ios-app"),
        help: ArgumentHelp(
            "Its app ID on Apple platforms, for the association file. Can be repeated.", valueName: "team.bundle"))
    var appleApps: [String] = []

    @Option(
        name: .customLong("android-app"),
        help: ArgumentHelp(
            "Its Android package and certificate, for the association file. Can be repeated.",
            valueName: "package:sha256"))
    var androidApps: [String] = []

    @Option(
        name: .customLong("post-logout-redirect-uri"),
        help: "A redirect URI for after sign-out. Can be repeated.")
    var postLogoutRedirectURIs: [String] = []

    @Option(
        name: .customLong("backchannel-logout-uri"),
        help: "The https URL that receives logout tokens when a session ends.")
    var backchannelLogoutURI: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A JSON Web Key Set file with the public keys of a web or service app. With keys, secrets are ignored.",
            valueName: "file.json"))
    var jwks: String?

    @Option(
        name: .long,
        help: "The PKCE policy: s256; for old apps also s256-or-plain or exempt-until:DATE.")
    var pkce: String?

    @Option(name: .customLong("require-state"), help: "Refuse authorization requests without state: true or false.")
    var requireState: String?

    @Option(name: .long, help: "When to issue refresh tokens: offline-access, always or never.")
    var refreshTokens: String?

    @Option(
        name: .long,
        help: "Rotate the refresh token on each use: true or false.")
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
            "The lifetime of refresh tokens in all, 600 to 63072000.", valueName: "seconds"))
    var refreshLifetime: String?

    @Option(
        name: .long, help: ArgumentHelp("The lifetime of its access tokens, 60 to 86400.", valueName: "seconds"))
    var accessTokenLifetime: String?

    @Option(name: .long, help: ArgumentHelp("The lifetime of its ID tokens, 60 to 86400.", valueName: "seconds"))
    var idTokenLifetime: String?

    @Option(name: .long, help: "The policy for sign-in in a web-view: block, warn or allow.")
    var webViews: String?

    @Option(
        name: .customLong("id-token-signed-response-alg"),
        help: "The signing algorithm of its ID tokens: ES256, RS256 or EdDSA.")
    var idTokenAlgorithm: String?

    @Option(
        name: .long,
        help: "The type of subject identifiers (sub): public, or pairwise for different ones per host.")
    var subjectType: String?

    @Option(
        name: .customLong("machine-scope"),
        help: ArgumentHelp(
            "A scope that a service can request without a user. Can be repeated. "
                + "A new service can request all its scopes.",
            valueName: "scope"))
    var machineScopes: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the app belongs to the operator of this server, so users are not asked for consent.")
    var firstParty: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether you vouch for the app. If not, pages show a warning.")
    var vouchedFor: Bool?

    @Flag(
        name: .customLong("claimed-https-verified"), inversion: .prefixedNo,
        help: "Whether you have verified that its https redirect URIs belong to it.")
    var isClaimedHTTPSVerified: Bool?

    func validate() throws {
        guard requireState.map(["true", "false"].contains) ?? true else {
            throw ValidationError("--require-state must be true or false.")
        }
    }

    /// Whether any option changes the policy.
    var hasPolicyChanges: Bool {
        [
            pkce, requireState, refreshTokens, rotateRefreshTokens, refreshGracePeriod, refreshIdleLifetime,
            refreshLifetime, accessTokenLifetime, idTokenLifetime, webViews, idTokenAlgorithm, subjectType,
        ]
        .contains { $0 != nil }
            || [firstParty, vouchedFor, isClaimedHTTPSVerified].contains { $0 != nil } || !machineScopes.isEmpty
    }

    /// Returns the given scopes that a client of the type can request without a user.
    func scopesWithoutUser(for type: ClientType) -> [String] {
        guard type == .service else { return [] }
        let standard = ScopeDefinition.standard.map(\.token)
        return scopes.filter { name in Scope.Token(name).map { !standard.contains($0) } ?? false }
    }

    /// Whether any option is given.
    var hasChanges: Bool {
        hasPolicyChanges
            || [publisher, consentText, privacyURI, termsURI, logo, backchannelLogoutURI, jwks].contains { $0 != nil }
            || [redirectURIs, scopes, optionalScopes, origins, appleApps, androidApps, postLogoutRedirectURIs].contains
            { !$0.isEmpty }
    }

    /// Writes the options into a draft.
    ///
    /// A list replaces the existing one, and an empty value clears.
    func write(into draft: inout ApplicationDraft) throws {
        func replace(_ list: inout [String], by values: [String]) {
            if !values.isEmpty { list = values.filter { !$0.isEmpty } }
        }
        if let publisher { draft.publisher = publisher }
        replace(&draft.redirectURIs, by: redirectURIs)
        replace(&draft.scopes, by: scopes)
        replace(&draft.optionalScopes, by: optionalScopes)
        if let consentText { draft.consentText = consentText.isEmpty ? "" : try InputFile.text(at: consentText) }
        if let privacyURI { draft.privacyURI = privacyURI }
        if let termsURI { draft.termsURI = termsURI }
        replace(&draft.origins, by: origins)
        replace(&draft.appleApps, by: appleApps)
        replace(&draft.androidApps, by: androidApps)
        if let jwks { draft.keys = jwks.isEmpty ? "" : try InputFile.keys(at: jwks) }
        replace(&draft.postLogoutRedirectURIs, by: postLogoutRedirectURIs)
        if let backchannelLogoutURI { draft.backchannelLogoutURI = backchannelLogoutURI }
    }

    /// Writes the policy options into a draft.
    func write(into draft: inout PolicyDraft) {
        if let pkce { draft.pkce = pkce }
        if let requireState { draft.requiresState = requireState == "true" }
        if let refreshTokens { draft.refreshTokens = refreshTokens }
        if let rotateRefreshTokens { draft.rotatesRefreshTokens = rotateRefreshTokens }
        if let refreshGracePeriod { draft.refreshGracePeriod = refreshGracePeriod }
        if let refreshIdleLifetime { draft.refreshIdleLifetime = refreshIdleLifetime }
        if let refreshLifetime { draft.refreshLifetime = refreshLifetime }
        if let accessTokenLifetime { draft.accessTokenLifetime = accessTokenLifetime }
        if let idTokenLifetime { draft.idTokenLifetime = idTokenLifetime }
        if let webViews { draft.webViews = webViews }
        if let idTokenAlgorithm { draft.idTokenAlgorithm = idTokenAlgorithm }
        if let subjectType { draft.subjectType = subjectType }
        if !machineScopes.isEmpty { draft.machineScopes = machineScopes.filter { !$0.isEmpty } }
        if let firstParty { draft.isFirstParty = firstParty }
        if let vouchedFor { draft.isVouchedFor = vouchedFor }
        if let isClaimedHTTPSVerified { draft.isClaimedHTTPSVerified = isClaimedHTTPSVerified }
    }
}

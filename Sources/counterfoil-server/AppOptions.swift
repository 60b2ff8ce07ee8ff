import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// What can be said about an application beside its name, by `app create` and by `app edit`.
///
/// Nothing is judged here: the rules are the server's, and they see what was written.
struct AppOptions: ParsableArguments {
    @Option(name: .long, help: "Who publishes it, as people read it.")
    var publisher: String?

    @Option(name: .customLong("redirect-uri"), help: "Where answers may go; repeat for more than one.")
    var redirectURIs: [String] = []

    @Option(name: .customLong("scope"), help: "A scope that it may ask for; repeat for more than one.")
    var scopes: [String] = []

    @Option(
        name: .customLong("optional-scope"),
        help: "One of its scopes that people may leave out; repeat for more than one.")
    var optionalScopes: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("A file with its own words for the consent page, in Markdown.", valueName: "file.md"))
    var consentText: String?

    @Option(name: .customLong("privacy-uri"), help: "The https address of its privacy policy.")
    var privacyURI: String?

    @Option(name: .customLong("terms-uri"), help: "The https address of its terms.")
    var termsURI: String?

    @Option(name: .long, help: ArgumentHelp("Its picture, a PNG or JPEG file.", valueName: "file"))
    var logo: String?

    @Option(
        name: .customLong("origin"),
        help: "Where the scripts of a single-page application run; repeat for more than one.")
    var origins: [String] = []

    @Option(
        name: .customLong("ios-app"),
        help: ArgumentHelp(
            "An app of Apple's platforms that it is; repeat for more than one.", valueName: "team.bundle"))
    var appleApps: [String] = []

    @Option(
        name: .customLong("android-app"),
        help: ArgumentHelp("An app of Android that it is; repeat for more than one.", valueName: "package:sha256"))
    var androidApps: [String] = []

    @Option(
        name: .customLong("post-logout-redirect-uri"),
        help: "Where people may be sent after signing out; repeat for more than one.")
    var postLogoutRedirectURIs: [String] = []

    @Option(
        name: .customLong("backchannel-logout-uri"), help: "The https address to tell when a session has ended.")
    var backchannelLogoutURI: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A file with the public keys of a web or service application, a JSON Web Key Set; with keys it has no secret.",
            valueName: "file.json"))
    var jwks: String?

    @Option(
        name: .long,
        help: "How it proves that it began: s256, or in old applications s256-or-plain or exempt-until:DATE.")
    var pkce: String?

    @Option(name: .customLong("require-state"), help: "Whether a request without state is refused: true or false.")
    var requireState: String?

    @Option(name: .long, help: "When it gets refresh tokens: offline-access, always or never.")
    var refreshTokens: String?

    @Option(
        name: .long,
        help: "Whether a refresh token is replaced each time that it is used: true or false.")
    var rotateRefreshTokens: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long a lost answer to a refresh is repeated, 0 to 600.", valueName: "seconds"))
    var refreshGracePeriod: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long its refresh tokens outlive their last use, 600 to 31536000.", valueName: "seconds"))
    var refreshIdleLifetime: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long its refresh tokens live however often they are used, 600 to 63072000.", valueName: "seconds"))
    var refreshLifetime: String?

    @Option(
        name: .long, help: ArgumentHelp("How long its access tokens live, 60 to 86400.", valueName: "seconds"))
    var accessTokenLifetime: String?

    @Option(name: .long, help: ArgumentHelp("How long its ID tokens live, 60 to 86400.", valueName: "seconds"))
    var idTokenLifetime: String?

    @Option(name: .long, help: "What happens in a web-view: block, warn or allow.")
    var webViews: String?

    @Option(name: .customLong("id-token-signed-response-alg"), help: "What signs its ID tokens: ES256, RS256 or EdDSA.")
    var idTokenAlgorithm: String?

    @Option(
        name: .long,
        help: "Under which name it knows a person: public, or pairwise for one that only its host knows.")
    var subjectType: String?

    @Option(
        name: .customLong("machine-scope"),
        help: ArgumentHelp(
            "A scope that a service can request without a user; repeat for more than one. A new service can request all its scopes.",
            valueName: "scope"))
    var machineScopes: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Whether it belongs to the owner of this server, so that people are not asked for consent.")
    var firstParty: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether you know who publishes it; if not, pages warn of it.")
    var vouchedFor: Bool?

    @Flag(
        name: .customLong("claimed-https-verified"), inversion: .prefixedNo,
        help: "Whether you know that its https redirect URIs are its own.")
    var isClaimedHTTPSVerified: Bool?

    func validate() throws {
        guard requireState.map(["true", "false"].contains) ?? true else {
            throw ValidationError("--require-state is true or false.")
        }
    }

    /// Whether any of the policy is said.
    var saysPolicy: Bool {
        [
            pkce, requireState, refreshTokens, rotateRefreshTokens, refreshGracePeriod, refreshIdleLifetime,
            refreshLifetime, accessTokenLifetime, idTokenLifetime, webViews, idTokenAlgorithm, subjectType,
        ]
        .contains { $0 != nil }
            || [firstParty, vouchedFor, isClaimedHTTPSVerified].contains { $0 != nil } || !machineScopes.isEmpty
    }

    /// Those of the scopes that a client of a type can request without a user.
    func scopesWithoutUser(for type: ClientType) -> [String] {
        guard type == .service else { return [] }
        let standard = ScopeDefinition.standard.map(\.token)
        return scopes.filter { name in Scope.Token(name).map { !standard.contains($0) } ?? false }
    }

    /// Whether anything at all is said.
    var saysAnything: Bool {
        saysPolicy
            || [publisher, consentText, privacyURI, termsURI, logo, backchannelLogoutURI, jwks].contains { $0 != nil }
            || [redirectURIs, scopes, optionalScopes, origins, appleApps, androidApps, postLogoutRedirectURIs].contains
            { !$0.isEmpty }
    }

    /// Writes what is said into a draft; a list replaces the one that is there, and an empty value clears.
    func write(into draft: inout ApplicationDraft) throws {
        func replace(_ list: inout [String], by said: [String]) {
            if !said.isEmpty { list = said.filter { !$0.isEmpty } }
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

    /// Writes what is said into the draft of a policy.
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

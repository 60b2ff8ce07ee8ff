import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// The options that determine which requests of a client are accepted: its redirect URIs, scopes and keys.
struct ClientRequestOptions: ParsableArguments {
    @Option(name: .customLong("redirect-uri"), help: ArgumentHelp("A redirect URI. Can be repeated.", valueName: "uri"))
    var redirectURIs: [String] = []

    @Option(
        name: .customLong("legacy-redirect-uri"),
        help: ArgumentHelp(
            "A redirect URI of an app that moves here, accepted although its scheme breaks the rules: "
                + "lightbox://oauth. Can be repeated.", valueName: "uri"))
    var legacyRedirectURIs: [String] = []

    @Option(name: .customLong("scope"), help: "A scope that the app may request. Can be repeated.")
    var scopes: [ScopeNames] = []

    @Option(
        name: .customLong("optional-scope"),
        help: ArgumentHelp("A scope of the app that users may decline. Can be repeated.", valueName: "scope"))
    var optionalScopes: [ScopeNames] = []

    @Option(
        name: .customLong("tester"),
        help: ArgumentHelp(
            "A user who can sign in while the app is in development. Can be repeated.", valueName: "user"))
    var testers: [String] = []

    @Option(
        name: .customLong("origin"),
        help: ArgumentHelp(
            "An origin of a single-page app, allowed by CORS. Can be repeated. "
                + "Default: the origins of its redirect URIs."))
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
        help: ArgumentHelp("A redirect URI for after sign-out. Can be repeated.", valueName: "uri"))
    var postLogoutRedirectURIs: [String] = []

    @Option(
        name: .customLong("backchannel-logout-uri"),
        help: ArgumentHelp("The https URL that receives logout tokens when a session ends.", valueName: "url"))
    var backchannelLogoutURI: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A JSON Web Key Set file with the public keys of a web or service app. With keys, secrets are ignored.",
            valueName: "file.json"))
    var jwks: String?

    /// Whether any option is given.
    var hasChanges: Bool {
        [backchannelLogoutURI, jwks].contains { $0 != nil }
            || [
                redirectURIs, legacyRedirectURIs, scopes.names, optionalScopes.names, testers, origins, appleApps,
                androidApps,
                postLogoutRedirectURIs,
            ].contains { !$0.isEmpty }
    }

    /// Replaces the values of the given options in a draft; a given list replaces the whole list.
    func write(into draft: inout ClientDraft) throws {
        func replace(_ list: inout [String], by values: [String]) {
            if !values.isEmpty { list = values.filter { !$0.isEmpty } }
        }
        replace(&draft.redirectURIs, by: redirectURIs + legacyRedirectURIs)
        draft.acceptedRedirectURIs.formUnion(legacyRedirectURIs)
        replace(&draft.scopes, by: scopes.names)
        replace(&draft.optionalScopes, by: optionalScopes.names)
        replace(&draft.testers, by: testers)
        replace(&draft.origins, by: origins)
        replace(&draft.appleApps, by: appleApps)
        replace(&draft.androidApps, by: androidApps)
        if let jwks { draft.keys = jwks.isEmpty ? "" : try InputFile.keys(at: jwks) }
        replace(&draft.postLogoutRedirectURIs, by: postLogoutRedirectURIs)
        if let backchannelLogoutURI { draft.backchannelLogoutURI = backchannelLogoutURI }
    }
}

import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

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

    /// Writes the given options into the body of a request; fails the command if the file with keys cannot be used.
    ///
    /// A given list replaces the whole list.
    func write(into members: inout [String: JSONValue]) throws {
        for (name, values) in [
            ("redirect_uris", redirectURIs + legacyRedirectURIs), ("accepted_redirect_uris", legacyRedirectURIs),
            ("testers", testers), ("origins", origins), ("apple_apps", appleApps), ("android_apps", androidApps),
            ("post_logout_redirect_uris", postLogoutRedirectURIs),
        ] where !values.isEmpty {
            members[name] = .array(values.filter { !$0.isEmpty }.map { .string($0) })
        }
        for (name, scopes) in [("scope", scopes), ("optional_scope", optionalScopes)] where !scopes.isEmpty {
            members[name] = .string(scopes.text)
        }
        if let backchannelLogoutURI { members["backchannel_logout_uri"] = .string(backchannelLogoutURI) }
        if let jwks { members["jwks"] = jwks.isEmpty ? .null : .object(try Self.keys(at: jwks)) }
    }

    /// Returns the JSON Web Key Set in a file.
    private static func keys(at path: String) throws -> [String: JSONValue] {
        let text = try InputFile.keys(at: path)
        do { return try JSONReader.object(Array(text.utf8)) } catch {
            throw CommandFailure.refused("--jwks: \(Localizer.english(ClientProblem.Reason.notAKeySet.text))")
        }
    }
}

extension [ScopeNames] {
    /// The names as one text; empty if an empty value clears the list.
    var text: String { names.filter { !$0.isEmpty }.joined(separator: " ") }
}

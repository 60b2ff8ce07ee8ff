public import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
public import CounterfoilTokens
import Foundation

/// The options that `resource create` and `resource edit` share.
struct ResourceOptions: ParsableArguments {
    @Option(name: .customLong("scope"), help: "A scope that the API uses. Can be repeated.")
    var scopes: [ScopeNames] = []

    @Option(
        name: .customLong("jwt-type"),
        help: ArgumentHelp(
            "The type (typ) of its access tokens: at+jwt, or jwt for libraries that refuse at+jwt.",
            valueName: "type"))
    var tokenType: AccessTokenType?

    @Flag(
        name: .customLong("bound-tokens-only"), inversion: .prefixedNo,
        help: "Whether the API accepts only access tokens that are bound to a key (DPoP).")
    var requiresBoundTokens: Bool?

    /// The named scopes.
    var scope: Scope { Scope(scopes.names.compactMap(Scope.Token.init(_:))) }

    /// Whether any option is given.
    var hasChanges: Bool { !scopes.isEmpty || tokenType != nil || requiresBoundTokens != nil }

    func checkScopes() throws {
        for scope in scopes.names where Scope.Token(scope) == nil {
            throw ValidationError("--scope: \(scope) is not a valid scope name.")
        }
    }

    /// Returns a name without white space at its ends; throws if pages cannot show it as it is.
    static func checked(name: String) throws -> String {
        let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
        guard DisplayName.isShownWhole(name, length: 1...100) else {
            throw ValidationError("The name of an API must be 1 to 100 visible characters on one line.")
        }
        return name
    }
}

extension AccessTokenType: @retroactive ExpressibleByArgument {}

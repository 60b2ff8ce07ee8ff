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

    /// Replaces the values of the given options in a draft.
    func write(into draft: inout APIDraft) {
        if !scopes.isEmpty { draft.scopes = scope.tokens.map(\.rawValue) }
        if let tokenType { draft.tokenType = tokenType.rawValue }
        if let requiresBoundTokens { draft.requiresBoundTokens = requiresBoundTokens }
    }

    func checkScopes() throws {
        for scope in scopes.names where Scope.Token(scope) == nil {
            throw ValidationError("--scope: \(scope) is not a valid scope name.")
        }
    }

    /// Throws unless pages can show a name as it is.
    static func check(name: String) throws {
        guard APIDraft.accepts(name: name) else {
            throw ValidationError("The name of an API must be 1 to 100 visible characters on one line.")
        }
    }
}

extension AccessTokenType: @retroactive ExpressibleByArgument {}

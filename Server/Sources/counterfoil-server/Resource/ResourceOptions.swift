public import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
@_spi(Counterfoil) public import CounterfoilTokens

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

    /// Whether any option is given.
    var hasChanges: Bool { !scopes.isEmpty || tokenType != nil || requiresBoundTokens != nil }

    /// The options by the members of an API.
    static let options = ["name": "--name", "scope": "--scope", "jwt_type": "--jwt-type"]

    /// Writes the values of the given options into the body of a request.
    func write(into members: inout [String: JSONValue]) {
        if !scopes.isEmpty { members["scope"] = .string(scopes.names.joined(separator: " ")) }
        if let tokenType { members["jwt_type"] = .string(tokenType.rawValue) }
        if let requiresBoundTokens { members["dpop_bound_access_tokens_required"] = .boolean(requiresBoundTokens) }
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

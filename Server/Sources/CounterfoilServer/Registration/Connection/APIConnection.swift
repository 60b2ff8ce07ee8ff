package import CounterfoilProtocol
package import CounterfoilStore
import CounterfoilTokens

/// The values with which an API checks the access tokens of this server.
///
/// No value is secret.
package struct APIConnection: Sendable, Hashable {
    package let issuer: Issuer
    /// The `aud` of tokens for the API.
    package let audience: String
    /// The `typ` of tokens for the API.
    package let tokenType: String
    /// The `alg` of tokens, which is the same for every API.
    package let algorithm = SigningAlgorithm.es256.rawValue
    package let scope: Scope
    package let clientID: ClientIdentifier
    package let requiresBoundTokens: Bool

    /// Creates the values of a registered API.
    package init(of api: RegisteredResource, issuer: Issuer) {
        self.issuer = issuer
        audience = api.resource.rawValue
        tokenType = api.tokenType == .atJWT ? "at+jwt" : "JWT"
        scope = api.scope
        clientID = api.clientID
        requiresBoundTokens = api.requiresBoundTokens
    }

    /// The URL of the server metadata (RFC 8414 §3.1).
    package var metadata: String { issuer.metadataURLs[0] }
    /// `jwks_uri`.
    package var keySet: String { issuer.endpoint(Endpoint.keySet.path) }
    /// `introspection_endpoint`.
    package var introspectionEndpoint: String { issuer.endpoint(Endpoint.introspection.path) }

    /// The pieces of code that check tokens; where one needs the secret, it reads an environment variable.
    package var configurations: [ReadyConfiguration] { [hummingbird, introspection] }

    private var hummingbird: ReadyConfiguration {
        var options: ConfigurationText<SwiftCode> = "audience: \(audience)"
        if tokenType == "JWT" { options = "\(options), tokenType: .jwt" }
        if requiresBoundTokens { options = "\(options),\n    proofs: ProofPolicy(requiresBoundTokens: true)" }
        let required = scope.tokens.first { !$0.isStandard } ?? scope.tokens.first
        let text: ConfigurationText<SwiftCode> = """
            import CounterfoilHummingbird
            import CounterfoilProtocol
            import CounterfoilResource
            import Hummingbird

            let api = ResourceServer(
                issuer: try Issuer(\(issuer.rawValue)), \(options))
            let router = Router(context: BasicVerifiedAccessRequestContext.self)
            router.group().requireScope(try Scope(parsing: \(required?.rawValue ?? "")), of: api)
                .get { _, context in try context.requireUser().subject }

            """
        return ReadyConfiguration(
            name: "counterfoil-hummingbird", product: "CounterfoilHummingbird (Swift)", file: "API.swift",
            text: text.text)
    }

    private var introspection: ReadyConfiguration {
        let text: ConfigurationText<Shell> = """
            # curl reads the secret from standard input, so that it is not in the list of processes.
            printf 'user = "%s:%s"\\n' \(clientID.rawValue) "$API_SECRET" |
              curl --config - --fail-with-body --silent --show-error \\
                --data-urlencode "token=$ACCESS_TOKEN" \\
                \(introspectionEndpoint)

            """
        return ReadyConfiguration(name: "curl", product: "curl", file: "introspect.sh", text: text.text)
    }
}

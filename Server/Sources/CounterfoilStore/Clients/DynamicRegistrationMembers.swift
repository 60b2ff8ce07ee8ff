@_spi(Counterfoil) package import CounterfoilTokens

extension DynamicRegistration {
    /// The registered metadata; empty if they cannot be read.
    package var members: [String: JSONValue] { (try? JSONReader.object(metadata)) ?? [:] }

    /// Whether the client authenticates with a secret that the server created.
    package var usesSecret: Bool {
        guard case .string(let method)? = members["token_endpoint_auth_method"] else { return false }
        return Self.symmetricMethods.contains(method)
    }

    /// The methods of authentication with a secret that the server creates.
    package static let symmetricMethods: Set<String> = [
        "client_secret_basic", "client_secret_post", "client_secret_jwt",
    ]
}

import CounterfoilProtocol

extension AuthorizationServerConfiguration {
    /// Returns the configuration with what an app sends to the token endpoint, and keeps of its responses, in addition
    /// to the standard.
    func adding(tokenParameters: [String: String], details: Set<String>) -> AuthorizationServerConfiguration {
        var extended = self
        // Parameters of the app take precedence over the parameters of the profile.
        extended.behavior.tokenParameters.merge(tokenParameters) { $1 }
        extended.behavior.tokenResponse.details += details.subtracting(behavior.tokenResponse.details).sorted()
        return extended
    }
}

extension ServerBehavior {
    /// The parameters of token requests that the client sets itself, or that carry a secret.
    private static let ownTokenParameters: Set<String> = [
        "grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "device_code", "scope", "resource",
        "client_id", "client_secret", "client_assertion", "client_assertion_type", "assertion", "username", "password",
        "subject_token", "subject_token_type", "actor_token", "actor_token_type", "requested_token_type",
    ]
    /// The members of token responses that have a place of their own in the credentials.
    private static let ownMembers: Set<String> = [
        "access_token", "token_type", "expires_in", "refresh_token", "scope", "id_token",
    ]

    /// Throws if an additional parameter is one that the client sets itself, or has an invalid name, or if an
    /// additional member is one that the client stores elsewhere.
    static func check(tokenParameters: [String: String], details: Set<String>) throws(SignInError) {
        for name in tokenParameters.keys.sorted() {
            guard !ownTokenParameters.contains(name) else {
                throw .unusable("the client sets the parameter \(name) of token requests itself")
            }
            guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .unusable("the name of an additional parameter is empty or contains invalid characters")
            }
        }
        guard let name = details.intersection(ownMembers).min() else { return }
        throw .unusable("\(name) is not one of the details of a token response; the credentials have it already")
    }
}

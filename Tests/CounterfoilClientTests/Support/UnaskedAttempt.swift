import CounterfoilClient
import CounterfoilProtocol
import Testing

extension AuthorizationAttempt {
    /// Creates an attempt at a server that receives no request, for tests of receivers.
    static func unasked(
        redirectURI: RedirectURI, issuer: String = "https://id.example.com"
    ) throws -> AuthorizationAttempt {
        AuthorizationAttempt(
            at: try .unasked(issuer), clientID: try #require(ClientIdentifier("lightbox")), redirectURI: redirectURI,
            scope: Scope())
    }

    /// Returns the state of the request.
    borrowing func state() throws -> String {
        let url = authorizationURL
        let form = try FormParameters(parsing: String(url.drop { $0 != "?" }.dropFirst()))
        return try #require(try form.single("state"))
    }
}

extension AuthorizationServerConfiguration {
    /// Creates the configuration of a server that receives no request.
    static func unasked(_ name: String, sendsIssuer: Bool = false) throws -> AuthorizationServerConfiguration {
        let issuer = try Issuer(name)
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = issuer.endpoint("/oauth2/authorize")
        metadata.tokenEndpoint = issuer.endpoint("/oauth2/token")
        metadata.codeChallengeMethodsSupported = ["S256"]
        metadata.authorizationResponseIssParameterSupported = sendsIssuer
        return try AuthorizationServerConfiguration(metadata, of: issuer)
    }
}

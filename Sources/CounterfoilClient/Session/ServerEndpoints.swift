import CounterfoilPlatform
import CounterfoilProtocol

/// The endpoints of a server as its metadata named them, so that a refresh works while the metadata are unavailable.
///
/// They are stored with the credentials, and fetched again after a day, or if the token endpoint does not respond as
/// one.
struct ServerEndpoints: Sendable, Hashable, Codable {
    private let metadata: AuthorizationServerMetadata
    private let fetched: Date

    /// The time after which the metadata are fetched again.
    private static let lifetime: TimeInterval = 86400

    init(_ server: AuthorizationServerConfiguration, at now: Date) {
        var metadata = AuthorizationServerMetadata(issuer: server.issuer)
        metadata.authorizationEndpoint = server.authorizationEndpoint.rawValue
        metadata.tokenEndpoint = server.tokenEndpoint.rawValue
        metadata.jwksURI = server.keysEndpoint?.rawValue
        metadata.revocationEndpoint = server.revocationEndpoint?.rawValue
        metadata.userInfoEndpoint = server.userInfoEndpoint?.rawValue
        metadata.endSessionEndpoint = server.endSessionEndpoint?.rawValue
        metadata.tokenEndpointAuthMethodsSupported = server.authenticationMethods
        self.metadata = metadata
        fetched = now
    }

    /// Returns whether the metadata are less than a day old; false if this device's clock was set back since.
    func isFresh(at now: Date) -> Bool { (0..<Self.lifetime).contains(now.timeIntervalSince(fetched)) }

    /// Whether the endpoints are those of a Keycloak server.
    var isKeycloak: Bool { metadata.revocationEndpoint?.hasSuffix("/protocol/openid-connect/revoke") ?? false }

    /// Validates the endpoints like metadata of the issuer; nil if they are not valid.
    func configuration(of issuer: Issuer, behavior: ServerBehavior) -> AuthorizationServerConfiguration? {
        // The sign-in has already checked the metadata for PKCE, and the requests that follow do not use PKCE.
        try? AuthorizationServerConfiguration(
            metadata, of: issuer, skippingPKCEMetadataCheck: true, behavior: behavior)
    }
}

extension Credentials {
    /// Returns the configuration of the server that issued the credentials.
    ///
    /// It contains the stored endpoints, unless they are older than a day and the metadata can be fetched.
    func serverConfiguration(
        transport: any HTTPTransport, at now: Date = Date()
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        try await located(transport: transport, at: now).server
    }

    /// Returns the configuration of the server, and the credentials with its current endpoints.
    func located(
        transport: any HTTPTransport, at now: Date
    ) async throws(SignInError) -> (credentials: Credentials, server: AuthorizationServerConfiguration) {
        let stored = storedConfiguration
        if let stored, endpoints?.isFresh(at: now) == true { return (self, stored) }
        do throws(SignInError) {
            let server = try await fetchedConfiguration(transport: transport)
            var located = self
            located.endpoints = ServerEndpoints(server, at: now)
            // A server at a host that is not the vendor's may publish metadata by now.
            located.server = server.vendor
            return (located, server)
        } catch {
            guard let stored, error != .cancelled else { throw error }
            return (self, stored)
        }
    }

    /// The configuration with the stored endpoints; nil if none are stored, or if they are those of a vendor profile.
    private var storedConfiguration: AuthorizationServerConfiguration? {
        guard server?.publishesMetadata ?? true else { return nil }
        var stored = endpoints?.configuration(of: issuer, behavior: server?.profile.behavior ?? .standard)
        stored?.vendor = server
        return stored.map { relocated($0) }
    }

    /// Fetches the current configuration of the server that issued the credentials.
    func fetchedConfiguration(
        transport: any HTTPTransport
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        // The sign-in has already checked the metadata for PKCE, and the requests that follow do not use PKCE.
        relocated(
            try await MetadataDiscovery(transport: transport)
                .configuration(of: issuer, or: server, forOpenID: user != nil))
    }

    private func relocated(_ server: AuthorizationServerConfiguration) -> AuthorizationServerConfiguration {
        server.relocated(to: server.behavior.callbackServer.flatMap { details[$0.parameter] })
    }
}

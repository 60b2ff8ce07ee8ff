import CounterfoilProtocol

@testable import CounterfoilClient

/// The metadata of an authorization server (RFC 8414 §2), and the configuration that a client derives from it.
enum MetadataTarget {
    static func examine(_ bytes: [UInt8]) {
        guard let metadata = try? AuthorizationServerMetadata(parsing: bytes) else { return }
        require((try? AuthorizationServerMetadata(parsing: bytes)) == metadata, "the same metadata read differently")
        guard let written = try? metadata.encoded() else {
            return require(false, "metadata that were read cannot be written")
        }
        require((try? AuthorizationServerMetadata(parsing: written)) == metadata, "not the same once written")

        guard let issuer = try? Issuer("https://id.example.com") else { return }
        do {
            let server = try AuthorizationServerConfiguration(metadata, of: issuer)
            require(Array(metadata.issuer.utf8) == Array(issuer.rawValue.utf8), "metadata of another issuer are taken")
            require(metadata.codeChallengeMethodsSupported?.contains("S256") == true, "a server without PKCE is taken")
            let endpoints = [
                server.authorizationEndpoint, server.tokenEndpoint, server.keysEndpoint, server.revocationEndpoint,
                server.userInfoEndpoint, server.endSessionEndpoint, server.pushedAuthorizationRequestEndpoint,
                server.deviceAuthorizationEndpoint, server.registrationEndpoint,
            ]
            for endpoint in endpoints.compactMap(\.self) {
                require(endpoint.rawValue.lowercased().hasPrefix("https://"), "\(endpoint) is not https")
                require(!endpoint.isLoopback, "\(endpoint) is on this device")
                require(isSafeToShow(endpoint.rawValue), "an endpoint that cannot be shown")
            }
        } catch {
            require(isSafeToShow(error.description), "a refusal that cannot be shown")
        }
    }
}

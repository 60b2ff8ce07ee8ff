package import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The discovery of an issuer's metadata (RFC 8414 §3, OpenID Connect Discovery §4).
package struct MetadataDiscovery: Sendable {
    private let transport: any HTTPTransport

    package init(transport: any HTTPTransport) { self.transport = transport }

    /// Fetches and validates the metadata of an issuer.
    ///
    /// The function tries the well-known URLs in order. After a 4xx status other than 429, it tries the next URL. Any
    /// other response without metadata is an error, even if the failure is temporary (429 or 5xx). The next URL could
    /// have a different document, which the client must not use only because the first URL failed for a moment.
    package func configuration(
        of issuer: Issuer,
        skippingPKCEMetadataCheck: Bool = false,
        behavior: ServerBehavior = .standard
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        for url in issuer.metadataURLs {
            guard let metadata = try await metadata(at: url) else { continue }
            do {
                return try AuthorizationServerConfiguration(
                    metadata, of: issuer, skippingPKCEMetadataCheck: skippingPKCEMetadataCheck,
                    behavior: behavior)
            } catch {
                throw .unsafe(.metadata(error))
            }
        }
        throw .unusable(
            "\(issuer) publishes no metadata; check that the issuer is written exactly as the server names it")
    }

    /// Fetches the metadata at one URL; nil if the status is a 4xx other than 429.
    private func metadata(at url: String) async throws(SignInError) -> AuthorizationServerMetadata? {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(url) } catch { throw .unusable("the issuer cannot be used: \(error)") }
        let response: TransportResponse
        do {
            response = try await transport.send(
                TransportRequest(endpoint, headerFields: [.accept: "application/json"]))
        } catch { throw SignInError(error) }
        switch response.statusCode {
        case 200:
            // First reject JSON in which two members have the same name, because parsers differ in which of the two
            // they use.
            guard (try? JSONReader.object(response.body)) != nil,
                let metadata = try? AuthorizationServerMetadata(parsing: response.body)
            else {
                throw .unsafe(.metadata(.unreadable))
            }
            return metadata
        case 300..<400: throw .unsafe(.redirected(origin: endpoint.origin))
        case 429: throw .unavailable(.status(429, origin: endpoint.origin))
        case 400..<500: return nil
        case 500..<600: throw .unavailable(.status(response.statusCode, origin: endpoint.origin))
        default: throw .unsafe(.metadata(.unreadable))
        }
    }
}

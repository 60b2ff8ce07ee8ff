public import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// Fetches the metadata of an issuer and checks them.
///
/// RFC 8414 §3, OpenID Connect Discovery §4.
public struct MetadataDiscovery: Sendable {
    private let transport: any HTTPTransport

    /// Makes a discovery over a transport.
    public init(transport: any HTTPTransport) { self.transport = transport }

    /// Tries the addresses of an issuer's metadata in order.
    ///
    /// An address that does not exist (a 4xx status) leads to the next one. Anything else that is not metadata is an error:
    /// a server in trouble must not be mistaken for one that publishes less.
    public func configuration(
        of issuer: Issuer,
        skippingPKCEMetadataCheck: Bool = false,
        behavior: ServerBehavior = .standard
    ) async throws(SignInError) -> AuthorizationServerConfiguration {
        for address in issuer.metadataURLs {
            guard let metadata = try await metadata(at: address) else { continue }
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

    /// The metadata at one address, or nil when there is no such address.
    private func metadata(at address: String) async throws(SignInError) -> AuthorizationServerMetadata? {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(address) } catch { throw .unusable("the issuer cannot be used: \(error)") }
        let response: TransportResponse
        do {
            response = try await transport.send(
                TransportRequest(endpoint, headerFields: [.accept: "application/json"]))
        } catch { throw SignInError(error) }
        switch response.statusCode {
        case 200:
            // Read strictly first: of two members of one name another reader might take the other.
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

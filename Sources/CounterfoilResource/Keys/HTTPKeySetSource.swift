public import CounterfoilProtocol
import CounterfoilTokens

/// A source that fetches the keys of an issuer from its `jwks_uri`.
///
/// RFC 8414 §3, RFC 7517 §5. URLs must be https, or http on a loopback host for development. Redirects are
/// not followed. Responses are limited in size and time.
public struct HTTPKeySetSource: KeySetSource {
    private enum Location {
        case metadata(of: Issuer)
        case known(AbsoluteURI)
    }

    private let location: Location

    /// Creates a source that reads `jwks_uri` from the metadata of the issuer before each fetch, so that a
    /// change of the URL takes effect.
    public init(issuer: Issuer) {
        location = .metadata(of: issuer)
    }

    /// Creates a source that fetches the keys from a fixed URL, without the metadata of the issuer.
    ///
    /// - Throws: ``KeySetFailure`` if the URL is invalid or insecure.
    public init(jwksURI: String) throws(KeySetFailure) {
        do { location = .known(try Self.usable(jwksURI, loopbackAllowed: true)) } catch {
            throw KeySetFailure(error.description)
        }
    }

    /// Fetches the keys; each HTTP request, including a request for metadata, has a time limit of 5 seconds.
    ///
    /// - Throws: ``KeySetFailure`` if a request fails or the response is not a valid key set.
    public func fetch() async throws -> FetchedKeySet {
        do throws(RequestFailure) { return try await fetched() } catch { throw KeySetFailure(error.description) }
    }

    private func fetched() async throws(RequestFailure) -> FetchedKeySet {
        let uri: AbsoluteURI
        switch location {
        case .known(let known): uri = known
        case .metadata(of: let issuer):
            let metadata = try await IssuerMetadata.get(of: issuer)
            uri = try Self.usable(metadata.jwksURI, loopbackAllowed: issuer.isLoopback)
        }
        let response = try await BoundedRequest.get(uri.rawValue, byteLimit: JSONWebKeySet.byteLimit)
        guard response.status == 200 else { throw response.failure }
        do {
            return FetchedKeySet(keys: try JSONWebKeySet(parsing: response.body), lifetime: response.lifetime)
        } catch {
            throw RequestFailure("\(uri): \(error)")
        }
    }

    private static func usable(_ text: String?, loopbackAllowed: Bool) throws(RequestFailure) -> AbsoluteURI {
        try IssuerMetadata.url(text, of: "jwks_uri", loopbackAllowed: loopbackAllowed)
    }
}

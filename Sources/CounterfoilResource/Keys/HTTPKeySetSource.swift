public import CounterfoilProtocol
import CounterfoilTokens

/// Gets the keys of an issuer from its `jwks_uri`.
///
/// RFC 8414 §3, RFC 7517 §5. https only, and http on a loopback host for development; redirects are not followed; answers
/// have bounded size and time.
public struct HTTPKeySetSource: KeySetSource {
    private enum Location {
        case metadata(of: Issuer)
        case known(AbsoluteURI)
    }

    private let location: Location

    /// The keys whose address the metadata of the issuer name; read anew each time, so that a new address is followed.
    public init(issuer: Issuer) {
        location = .metadata(of: issuer)
    }

    /// The keys at a known address.
    public init(jwksURI: String) throws(KeySetFailure) {
        do { location = .known(try Self.usable(jwksURI, loopbackAllowed: true)) } catch {
            throw KeySetFailure(error.description)
        }
    }

    /// Gets the keys.
    public func fetch() async throws -> FetchedKeySet {
        do throws(ExchangeFailure) { return try await fetched() } catch { throw KeySetFailure(error.description) }
    }

    private func fetched() async throws(ExchangeFailure) -> FetchedKeySet {
        let uri: AbsoluteURI
        switch location {
        case .known(let known): uri = known
        case .metadata(of: let issuer):
            let metadata = try await IssuerMetadata.get(of: issuer)
            uri = try Self.usable(metadata.jwksURI, loopbackAllowed: issuer.isLoopback)
        }
        let answer = try await BoundedExchange.get(uri.rawValue, byteLimit: JSONWebKeySet.byteLimit)
        guard answer.status == 200 else { throw answer.failure }
        do {
            return FetchedKeySet(keys: try JSONWebKeySet(parsing: answer.body), lifetime: answer.lifetime)
        } catch {
            throw ExchangeFailure("\(uri): \(error)")
        }
    }

    private static func usable(_ text: String?, loopbackAllowed: Bool) throws(ExchangeFailure) -> AbsoluteURI {
        try IssuerMetadata.address(text, of: "the keys", loopbackAllowed: loopbackAllowed)
    }
}

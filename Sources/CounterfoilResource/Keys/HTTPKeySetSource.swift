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
        location = .known(try Self.usable(jwksURI, loopbackAllowed: true))
    }

    /// Gets the keys.
    public func fetch() async throws -> FetchedKeySet {
        let uri =
            switch location {
            case .known(let uri): uri
            case .metadata(of: let issuer): try await jwksURI(of: issuer)
            }
        let answer = try await BoundedGet.get(uri.rawValue, byteLimit: JSONWebKeySet.byteLimit)
        guard answer.status == 200 else { throw answer.failure }
        do {
            return FetchedKeySet(keys: try JSONWebKeySet(parsing: answer.body), lifetime: answer.lifetime)
        } catch {
            throw KeySetFailure("\(uri): \(error)")
        }
    }

    private func jwksURI(of issuer: Issuer) async throws -> AbsoluteURI {
        var last: BoundedGet.Answer?
        for url in issuer.metadataURLs {
            let answer = try await BoundedGet.get(url, byteLimit: 256 * 1024)
            last = answer
            guard answer.status == 200 else { continue }
            guard let metadata = try? AuthorizationServerMetadata(parsing: answer.body) else {
                throw KeySetFailure("\(url): not the metadata of an authorization server")
            }
            // RFC 8414 §3.3: the issuer in the metadata is identical to the one that was asked for.
            guard metadata.issuer.utf8.elementsEqual(issuer.rawValue.utf8) else {
                throw KeySetFailure("\(url): these are the metadata of another issuer")
            }
            guard let jwksURI = metadata.jwksURI else { throw KeySetFailure("\(url): the metadata have no jwks_uri") }
            return try Self.usable(jwksURI, loopbackAllowed: issuer.isLoopback)
        }
        throw last?.failure ?? KeySetFailure("\(issuer) has no metadata addresses")
    }

    private static func usable(_ text: String, loopbackAllowed: Bool) throws(KeySetFailure) -> AbsoluteURI {
        guard let uri = try? AbsoluteURI(parsing: text), let host = uri.host, !host.isEmpty,
            uri.userInformation == nil, uri.fragment == nil
        else { throw KeySetFailure("the address of the keys is not a URL such as https://id.example.com/jwks") }
        let isLoopback = LoopbackHost(rawValue: host.lowercased()) != nil
        switch uri.scheme.lowercased() {
        case "https": return uri
        case "http" where isLoopback && loopbackAllowed: return uri
        default: throw KeySetFailure("the address of the keys must be https; http is allowed only on a loopback host")
        }
    }
}

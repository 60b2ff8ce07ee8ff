import CounterfoilProtocol

/// Functions that fetch the metadata document of an issuer and validate the URLs in it.
///
/// RFC 8414 §3. URLs must be https, or http on a loopback host for development.
enum IssuerMetadata {
    /// Fetches the metadata of an issuer from the first of its metadata URLs that responds with status 200.
    static func get(of issuer: Issuer) async throws(RequestFailure) -> AuthorizationServerMetadata {
        var last: BoundedRequest.Response?
        for url in issuer.metadataURLs {
            let response = try await BoundedRequest.get(url, byteLimit: 256 * 1024)
            last = response
            guard response.status == 200 else { continue }
            guard let metadata = try? AuthorizationServerMetadata(parsing: response.body) else {
                throw RequestFailure("\(url): the response is not valid metadata of an authorization server")
            }
            // RFC 8414 §3.3: `issuer` in the metadata must be identical to the issuer that was requested.
            guard metadata.issuer.utf8.elementsEqual(issuer.rawValue.utf8) else {
                throw RequestFailure("\(url): the metadata belongs to another issuer")
            }
            return metadata
        }
        throw last?.failure ?? RequestFailure("no metadata URL can be derived from \(issuer)")
    }

    /// Validates a URL in the metadata; `name` is the metadata member, such as `jwks_uri`, for error messages.
    static func url(
        _ text: String?, of name: String, loopbackAllowed: Bool
    ) throws(RequestFailure) -> AbsoluteURI {
        guard let text else { throw RequestFailure("the \(name) is missing from the metadata of the issuer") }
        guard let uri = try? AbsoluteURI(parsing: text), let host = uri.host, !host.isEmpty,
            uri.userInformation == nil, uri.fragment == nil
        else { throw RequestFailure("the \(name) is not a URL such as https://id.example.com/path") }
        let isLoopback = LoopbackHost(rawValue: host.lowercased()) != nil
        switch uri.scheme.lowercased() {
        case "https": return uri
        case "http" where isLoopback && loopbackAllowed: return uri
        default:
            throw RequestFailure("the \(name) must be an https URL; http is allowed only on a loopback host")
        }
    }
}

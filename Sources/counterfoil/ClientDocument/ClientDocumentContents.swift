import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// The metadata document of a client without a secret (OAuth Client ID Metadata Document §4.1, RFC 7591 §2).
struct ClientDocumentContents: Encodable {
    let clientID: String
    let clientName: String
    let clientURI: String?
    let logoURI: String?
    let redirectURIs: [String]
    let applicationType: String
    let grantTypes = ["authorization_code", "refresh_token"]
    let responseTypes = ["code"]
    let tokenEndpointAuthMethod = "none"
    let scope: String?

    init(
        of document: ClientMetadataDocument, name: String, redirectURIs: [String], clientURI: String?, logoURI: String?,
        scope: Scope
    ) {
        clientID = document.description
        clientName = name
        self.clientURI = clientURI
        self.logoURI = logoURI
        self.redirectURIs = redirectURIs
        // OpenID Connect Dynamic Client Registration §2: the default `web` excludes loopback and private-use schemes.
        applicationType = redirectURIs.allSatisfy { $0.lowercased().hasPrefix("https:") } ? "web" : "native"
        self.scope = scope.isEmpty ? nil : scope.description
    }

    private enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case clientName = "client_name"
        case clientURI = "client_uri"
        case logoURI = "logo_uri"
        case redirectURIs = "redirect_uris"
        case applicationType = "application_type"
        case grantTypes = "grant_types"
        case responseTypes = "response_types"
        case tokenEndpointAuthMethod = "token_endpoint_auth_method"
        case scope
    }

    /// Encodes the document.
    func json() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }
}

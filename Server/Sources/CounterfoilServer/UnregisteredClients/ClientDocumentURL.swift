import CounterfoilProtocol
import CounterfoilStore

/// The URL of a client document, which is also the `client_id` of its client
/// (draft-ietf-oauth-client-id-metadata-document-02 §3).
struct ClientDocumentURL: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of the URL in bytes, which every grant, code and audit event of the client contains.
    static let byteLimit = 512

    let clientID: ClientIdentifier
    let uri: AbsoluteURI
    let host: String

    /// Parses a `client_id`; throws the reason if no document can have this URL.
    ///
    /// Two URLs that differ in a byte are two clients, also if they differ only in the port 443.
    init(_ id: ClientIdentifier) throws(ClientDocumentRefusal) {
        guard id.rawValue.utf8.count <= Self.byteLimit else {
            throw .badURL("it is longer than \(Self.byteLimit) bytes")
        }
        guard let uri = try? AbsoluteURI(parsing: id.rawValue), uri.scheme == "https", let host = uri.host,
            !host.isEmpty
        else { throw .badURL("it is not an https URL") }
        guard DomainName.isValid(host), !DomainName.isNumeric(host) else { throw .badURL("its host is not a name") }
        guard host == DomainName.canonical(host) else { throw .badURL("its host is not in lower case") }
        guard !uri.path.isEmpty else { throw .badURL("it has no path") }
        guard uri.userInformation == nil else { throw .badURL("it has user information") }
        guard uri.fragment == nil else { throw .badURL("it has a fragment") }
        guard !uri.hasDotSegments else { throw .badURL("its path has a segment . or ..") }
        clientID = id
        self.uri = uri
        self.host = host
    }

    /// The URL.
    var description: String { clientID.rawValue }
}

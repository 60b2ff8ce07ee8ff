import CounterfoilProtocol

/// The URL of a client document, which is also the `client_id` of its client
/// (draft-ietf-oauth-client-id-metadata-document §3).
struct ClientDocumentURL: Sendable, Hashable, CustomStringConvertible {
    let clientID: ClientIdentifier
    let uri: AbsoluteURI
    /// The host in lower case.
    let host: String

    /// Parses a `client_id`; throws the reason if no document can have this URL.
    ///
    /// Two URLs that differ in a byte are two clients, also if they differ only in the port 443 or in the case of the
    /// host.
    init(_ id: ClientIdentifier) throws(ClientDocumentRefusal) {
        guard let uri = try? AbsoluteURI(parsing: id.rawValue), uri.scheme == "https", let host = uri.host,
            !host.isEmpty
        else { throw .badURL("it is not an https URL") }
        let name = DomainName.canonical(host)
        guard DomainName.isValid(name), !DomainName.isNumeric(name) else { throw .badURL("its host is not a name") }
        guard !uri.path.isEmpty else { throw .badURL("it has no path") }
        guard uri.userInformation == nil else { throw .badURL("it has user information") }
        guard uri.fragment == nil else { throw .badURL("it has a fragment") }
        guard !uri.hasDotSegments else { throw .badURL("its path has a segment . or ..") }
        clientID = id
        self.uri = uri
        self.host = name
    }

    /// The URL.
    var description: String { clientID.rawValue }
}

/// The reason why a client cannot be used that is identified by the URL of its document.
///
/// The text is for the developer of the client. It contains no part of the document, which a stranger has written.
enum ClientDocumentRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server does not accept clients with documents, or none of this host.
    case notAccepted
    /// The URL cannot be that of a client document.
    case badURL(String)
    /// The document cannot be fetched now; a later request can succeed.
    case notFetched(OutboundFailure)
    /// The host answered with another status than 200.
    case status(Int)
    /// The response is not JSON.
    case contentType
    /// The document breaks a rule.
    case invalid(String)
    /// The server fetches too many documents, or has fetched too many from this host; a later request can succeed.
    case busy

    /// Whether a later request with the same document can succeed.
    var mayPass: Bool {
        switch self {
        case .notFetched(.unsuitableURL), .notFetched(.notPublic), .notFetched(.tooLarge), .notFetched(.untrusted),
            .notAccepted, .badURL, .contentType, .invalid:
            false
        case .notFetched, .status, .busy: true
        }
    }

    var description: String {
        switch self {
        case .notAccepted: "this server does not accept the client"
        case .badURL(let reason): "the client_id cannot be the URL of a client document: \(reason)"
        case .notFetched(let failure): "the client document cannot be fetched: \(failure.developerText)"
        case .status(let status): "the client document cannot be fetched: its host answered \(status); it must be 200"
        case .contentType: "the client document is not JSON; its content type must be application/json"
        case .invalid(let reason): "the client document is invalid: \(reason)"
        case .busy: "too many client documents are fetched at the moment; try again later"
        }
    }
}

extension OutboundFailure {
    /// The reason for the developer of a client, in English.
    var developerText: String {
        switch self {
        case .unsuitableURL: "it must be an https URL with a host name"
        case .unknownHost: "its host does not exist"
        case .notPublic: "its host is not on the public internet"
        case .unreachable: "its host is not reachable"
        case .untrusted: "the certificate of its host is not valid"
        case .timedOut: "its host did not answer in time"
        case .tooLarge: "it is larger than the limit"
        case .busy: "too many requests to other hosts are in progress"
        }
    }
}

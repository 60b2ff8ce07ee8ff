import CounterfoilProtocol
import CounterfoilStore
import HTTPTypes

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
    /// The IP address of the request has named too many documents that the server does not know; a later request can
    /// succeed.
    case tooMany(retryAfter: Int)

    /// Whether a later request with the same document can succeed.
    var mayPass: Bool {
        switch self {
        case .notFetched(.unsuitableURL), .notFetched(.tooLarge), .notFetched(.untrusted), .notAccepted, .badURL,
            .contentType, .invalid:
            false
        case .notFetched, .busy, .tooMany: true
        // RFC 9110 §15.5.9, RFC 6585 §4: the host asks for another attempt.
        case .status(let status): status >= 500 || status == 408 || status == 429
        }
    }

    var description: String {
        switch self {
        case .notAccepted: "this server does not accept the client"
        case .badURL(let reason): "the client_id cannot be the URL of a client document: \(reason)"
        case .notFetched(let failure): "the client document cannot be fetched: \(failure.developerText)"
        case .status(let status) where (300..<400).contains(status) && status != 304:
            "the client document cannot be fetched: its host answered \(status), and redirects are not followed"
        case .status(let status): "the client document cannot be fetched: its host answered \(status); it must be 200"
        case .contentType: "the client document is not JSON; its content type must be application/json"
        case .invalid(let reason): "the client document is invalid: \(reason)"
        case .busy: "too many client documents are fetched at the moment; try again later"
        case .tooMany(let seconds): "too many client documents from this address; try again in \(seconds) seconds"
        }
    }
}

extension ClientDocumentRefusal: Refusing {
    /// The text for users.
    var text: LocalizedText {
        mayPass ? LocalizedText("request.client-document-later") : LocalizedText("request.client-document")
    }

    /// The response to a program, and to a user if there are no details for the developer.
    var refusal: Refusal { refusal(nil) }

    /// Creates the response to an authorization request of the client.
    func refusal(_ details: (any DeveloperDetails)?) -> Refusal {
        let values = ["reason": LocalizedText.Value.nested(text)]
        guard mayPass else {
            return Refusal(
                .badRequest, .invalidRequest, .requestUnanswered, values, description: description, details: details,
                refusedBecause: .clientDocument)
        }
        if case .tooMany(let retryAfter) = self {
            return Refusal(
                .tooManyRequests, .temporarilyUnavailable, .requestUnanswered, values, description: description,
                retryAfter: retryAfter, details: details, refusedBecause: .clientDocument)
        }
        return Refusal(
            .serviceUnavailable, .temporarilyUnavailable, .requestUnanswered, values, description: description,
            retryAfter: 60, details: details, refusedBecause: .clientDocument)
    }
}

extension OutboundFailure {
    /// The reason for the developer of a client, in English.
    ///
    /// Everyone can make the server look up a name. So the text does not reveal which names exist that are only for the
    /// network of the server.
    var developerText: String {
        switch self {
        case .unsuitableURL: "it must be an https URL with a host name"
        case .unknownHost, .notPublic: "its host does not exist, or is not on the public internet"
        case .unreachable: "its host is not reachable"
        case .untrusted: "the certificate of its host is not valid"
        case .timedOut: "its host did not answer in time"
        case .tooLarge: "it is larger than the limit"
        case .busy: "too many requests to other hosts are in progress"
        }
    }
}

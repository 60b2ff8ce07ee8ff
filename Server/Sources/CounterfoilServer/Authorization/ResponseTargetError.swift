import CounterfoilProtocol
import CounterfoilStore
import HTTPTypes

/// The errors that are shown on a page and never redirected to the client (RFC 6749 §4.1.2.1).
enum ResponseTargetError: Error, Localized, CustomStringConvertible {
    /// The parameters are malformed; `clientID` is the `client_id` as received, nil if it is missing or repeated.
    case target(AuthorizationRequest.ResponseTarget.Refusal, clientID: String? = nil)
    case unknownClient(ClientIdentifier)
    /// The identifier is the URL of a client document that the server cannot use.
    case clientDocument(ClientDocumentRefusal, ClientIdentifier)
    /// The client has no such pushed request: it is unknown, completed, expired or of another client (RFC 9126 §4).
    case pushedRequest(of: ClientIdentifier)
    case cannotSignIn(RegisteredClient)
    /// The `redirect_uri` cannot be used; `received` is its value in the request, nil if it was omitted.
    case redirectURI(RedirectURIMatching.Refusal, received: String?, of: RegisteredClient)

    /// The error message for a page.
    var text: LocalizedText {
        switch self {
        case .target(let refusal, _): refusal.text
        case .unknownClient: LocalizedText("request.unknown-client")
        case .clientDocument(let refusal, _): refusal.text
        case .pushedRequest: Problem.pushedRequestGone.explanation([:])
        case .cannotSignIn: LocalizedText("request.cannot-sign-in")
        case .redirectURI(let refusal, _, _): refusal.text
        }
    }

    /// The client that sent the request; nil if the client is unknown.
    var client: RegisteredClient? {
        switch self {
        case .target, .unknownClient, .clientDocument, .pushedRequest: nil
        case .cannotSignIn(let client), .redirectURI(_, _, let client): client
        }
    }
}

extension ResponseTargetError: Refusing {
    var refusal: Refusal {
        let details = RefusedRequestDetails(self)
        // RFC 9101 §7: the error code `invalid_request_uri`.
        if case .pushedRequest = self {
            return Refusal(.badRequest, .invalidRequestURI, .pushedRequestGone, details: details, client: named)
        }
        if case .clientDocument(let refusal, let id) = self {
            var refused = refusal.refusal(details)
            refused.client = id
            return refused
        }
        guard let client else {
            return Refusal(
                .badRequest, .invalidRequest, .requestUnanswered, ["reason": .nested(text)], details: details,
                refusedBecause: reason, client: named)
        }
        return Refusal(
            .badRequest, .invalidRequest, .clientUnanswered,
            ["application": .name(client.displayName), "reason": .nested(text)], details: details,
            refusedBecause: reason, client: named)
    }

    /// The reason in the audit log; nil for that of the error page.
    private var reason: AuditEvent.Reason? {
        switch self {
        case .target: nil
        case .unknownClient: .unknownClient
        case .clientDocument: .clientDocument
        case .pushedRequest: .pushedRequest
        case .cannotSignIn: .clientType
        case .redirectURI: .redirectURI
        }
    }

    /// The client that the request names.
    private var named: ClientIdentifier? {
        switch self {
        case .target: nil
        case .unknownClient(let id), .clientDocument(_, let id), .pushedRequest(let id): id
        case .cannotSignIn(let client), .redirectURI(_, _, let client): client.id
        }
    }
}

extension PageForm {
    /// Returns the authorization request that the form contains in its field `request`.
    func pendingRequestParameters() throws -> FormParameters {
        do { return try FormParameters(parsing: try value("request")) } catch let refusal as FormParameters.Refusal {
            throw ResponseTargetError.target(.parameters(refusal))
        }
    }
}

import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// An error that defines its own response.
protocol Refusing: Error {
    /// The response to the request that caused the error, and the log message.
    var refusal: Refusal { get }
}

/// An error whose response names the endpoint.
protocol RefusingAtEndpoint: Error {
    /// Returns the response to the request that caused the error, and the log message.
    func refusal(at endpoint: Endpoint) -> Refusal
}

/// The details of a refused request for the developer of the client, on the error page and in the log.
protocol DeveloperDetails: Sendable {
    /// `client_id` as received; nil if it is missing or repeated.
    var clientID: EscapedText? { get }
    /// The fields of the log line.
    var metadata: Logger.Metadata { get }

    /// Creates the section of the error page.
    func section(in words: Localizer, issuer: Issuer, pages: LinkedPages) -> ProblemPage.DeveloperSection
}

/// The response to a request that the server refused or failed to handle, with the log message.
///
/// Only this type turns a thrown error into a response.
package struct Refusal: Sendable {
    /// The recipient of the response, which determines the format of the error.
    package enum Reader: Sendable {
        /// A user, who gets a page.
        case page
        /// A program, which gets JSON.
        case json
        /// A program that calls the administration API, which gets problem details (RFC 9457).
        case problem
        /// A directory, which gets an error of SCIM (RFC 7644 §3.12).
        case scim

        /// Returns the body with an error; none for a user, and for a program that gets errors of OAuth.
        func content(of details: ProblemDetails) -> Reply.Content {
            switch self {
            case .page, .json: .none
            case .problem: .problem(details.encoded())
            case .scim: .scim(details.encodedForSCIM())
            }
        }
    }

    /// The target of the button on the error page.
    enum ContinueLink: Sendable {
        /// The home page for signed-in users.
        case home
        /// Another URL of the server.
        case address(String)
    }

    private let status: HTTPResponse.Status
    private let error: OAuthError
    private let problem: Problem
    private let values: [String: LocalizedText.Value]
    private var fault: String?
    /// The store fault that is the cause; nil if there is none.
    var storeFault: StoreFault?
    private var fields: HTTPFields = [:]
    private var continueLink: ContinueLink?
    /// The details for the developer of the client, on the error page and in the log.
    private var details: (any DeveloperDetails)?
    /// The problem details for a program; nil for those that follow from the status and the error.
    private var problemDetails: ProblemDetails?
    /// The identifier of the client for the log; it may be unverified, and no client may have it.
    var client: ClientIdentifier?
    /// The user of the grant that the request presented, for the log; nil if it presented none.
    private(set) var user: UserIdentifier?
    /// The reason in the audit log; nil for a fault, a missing page, and a request that is not at fault.
    var reason: AuditEvent.Reason?
    /// A response that is sent instead of the error page or JSON: a redirect, or a page other than the error page.
    private var redirect: Reply?

    /// Creates a refusal that is reported to users as an error page and to programs as an OAuth error in JSON.
    ///
    /// - Parameters:
    ///   - status: The HTTP status of the response.
    ///   - code: The OAuth error code in the JSON.
    ///   - problem: The problem that the error page explains.
    ///   - values: The values of the placeholders in the texts of `problem`.
    ///   - description: `error_description` in the JSON, in English (RFC 6749 §5.2); nil to leave it out.
    ///   - fault: The log message about a fault that the operator must fix; nil if there is none.
    ///   - retryAfter: The time in seconds after which to retry, sent as `Retry-After`; nil to leave it out.
    ///   - continueLink: The target of the button on the error page; nil for no button.
    ///   - details: The details for the developer of the client; nil for an error that is not the developer's.
    ///   - refusedBecause: The reason in the audit log; nil for that of `problem`.
    ///   - client: The client that the request names; nil if it is not known.
    init(
        _ status: HTTPResponse.Status, _ code: OAuthError.Code, _ problem: Problem,
        _ values: [String: LocalizedText.Value] = [:],
        description: String? = nil, fault: String? = nil, retryAfter: Int? = nil, continueLink: ContinueLink? = nil,
        details: (any DeveloperDetails)? = nil, refusedBecause: AuditEvent.Reason? = nil,
        client: ClientIdentifier? = nil
    ) {
        self.status = status
        let reason = Localizer.english(problem.explanation(values))
        error = description.map { OAuthError(code, $0) } ?? OAuthError(code, nil, reason: reason)
        self.problem = problem
        self.values = values
        self.fault = fault
        self.continueLink = continueLink
        self.details = details
        self.client = client
        self.reason = refusedBecause ?? problem.reason
        if let retryAfter { fields[.retryAfter] = String(retryAfter) }
    }

    /// Creates a refusal from an OAuth error; the JSON contains its description, an error page only its code.
    ///
    /// - Parameter challenge: The value of `WWW-Authenticate`; nil to leave it out.
    init(_ error: OAuthError, status: HTTPResponse.Status = .badRequest, challenge: String? = nil) {
        self.status = status
        self.error = error
        problem = .requestRefused
        values = ["reason": .text(error.code.rawValue)]
        fault = nil
        reason = Self.reason(of: error)
        if let challenge { fields[.wwwAuthenticate] = challenge }
    }

    /// Creates the refusal of a request to the administration API.
    init(_ details: ProblemDetails, fields: HTTPFields = [:]) {
        self.init(OAuthError(.invalidRequest, nil, reason: details.logged), status: details.status)
        problemDetails = details
        reason = nil
        self.fields = fields
    }

    /// Creates a refusal whose response is a redirect or a page other than the error page; the OAuth error appears only
    /// in the log.
    ///
    /// - Parameters:
    ///   - refusedBecause: The reason in the audit log; nil if the user continues behind the redirect.
    ///   - client: The client of the request; nil if the log does not name it.
    ///   - fault: The store fault that is the cause, for the log; nil if there is none.
    init(
        _ error: OAuthError, to redirect: Reply, refusedBecause: AuditEvent.Reason? = nil,
        client: ClientIdentifier? = nil, fault: StoreFault? = nil
    ) {
        self.init(error, status: redirect.status)
        self.redirect = redirect
        reason = refusedBecause
        self.client = client
        storeFault = fault
        self.fault = fault?.logged
    }

    /// Returns the reason of an OAuth error in the audit log; nil for an error with which a client counts.
    static func reason(of error: OAuthError) -> AuditEvent.Reason? {
        routine.contains(error.code) ? nil : AuditEvent.Reason(error.code)
    }

    /// The errors with which a client counts: a device polls, and a page asks in a frame whether the user is signed in.
    private static let routine: Set<OAuthError.Code> = [
        .authorizationPending, .slowDown, .useDPoPNonce, .loginRequired, .consentRequired, .interactionRequired,
        .temporarilyUnavailable, .serverError,
    ]

    /// Creates the refusal of a request at `endpoint`, from the error that its handler threw.
    init(_ thrown: any Error, at endpoint: Endpoint) {
        switch thrown {
        case let error as ClientRequestError:
            self.init(error.error, at: endpoint)
            client = client ?? error.clientID
            user = error.userID
        case let refusing as any Refusing:
            self = refusing.refusal
        case let refusing as any RefusingAtEndpoint:
            self = refusing.refusal(at: endpoint)
        case let error as OAuthError:
            self.init(error)
        default:
            self.init(.internalServerError, .serverError, .fault, fault: String(describing: thrown))
        }
    }

    /// The refusal without the button on its error page.
    ///
    /// It is for requests to another origin than that of the issuer, where the page behind the button does not exist.
    var withoutContinueLink: Refusal {
        var refusal = self
        refusal.continueLink = nil
        return refusal
    }

    /// Returns the response in the format for a recipient.
    ///
    /// - Parameters:
    ///   - reader: The recipient; it has no effect if the refusal is a redirect.
    ///   - words: The texts in the language of the error page.
    ///   - issuer: The issuer, whose path precedes that of `home`.
    ///   - pages: The pages for signed-in users, to which an error page may lead.
    func reply(as reader: Reader, in words: Localizer, issuer: Issuer, pages: LinkedPages) -> Reply {
        if let redirect { return redirect }
        switch reader {
        case .json:
            // Sorted keys make responses with the same content identical.
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let body = (try? encoder.encode(TokenErrorResponse(error))) ?? Data(#"{"error":"server_error"}"#.utf8)
            return Reply(status, .json(Array(body)), fields: fields)
        case .problem, .scim:
            let details = problemDetails ?? ProblemDetails(status, detail: error.description)
            return Reply(status, reader.content(of: details), fields: fields)
        case .page:
            let page = ProblemPage(
                status: status.code, title: words(problem.title(values)),
                explanation: words(problem.explanation(values)), advice: words(problem.advice(values)),
                continueLink: continueLink.map {
                    .init(address: $0.address(at: issuer, home: pages.home), title: words(problem.continueLink()))
                },
                developer: details?.section(in: words, issuer: issuer, pages: pages)
            )
            return Reply(status, .page(page), fields: fields)
        }
    }

    /// The `error` code of OAuth, for the span of the request.
    var errorCode: String { error.code.rawValue }

    /// A text in English that explains the reason in the audit log; nil if the reason says it.
    var explanation: String? {
        switch (problem, values["reason"]) {
        case (.requestRefused, _): error.reason
        case (.requestUnanswered, .nested(let text)), (.clientUnanswered, .nested(let text)):
            reason == AuditEvent.Reason(.invalidRequest) ? Localizer.english(text) : nil
        default: nil
        }
    }

    /// Whether the operator must fix a fault, which the log has with the reference of the request.
    var isFault: Bool { fault != nil }

    /// Logs the refusal: at level `error` if the operator must fix a fault, and at `level` if not.
    ///
    /// - Parameter metadata: The fields of every refused request.
    func log(to logger: Logger, at level: Logger.Level, with metadata: Logger.Metadata) {
        var metadata = metadata
        metadata["error"] = "\(error.code)"
        metadata["status"] = "\(status.code)"
        // The identifier in the audit event comes first, so that a search finds both.
        if metadata["client_id"] == nil, let clientID = client.map({ EscapedText($0.rawValue) }) ?? details?.clientID {
            metadata["client_id"] = "\(clientID)"
        }
        if let details { metadata.merge(details.metadata) { own, _ in own } }
        if let fault {
            logger.error("\(fault)", metadata: metadata)
        } else {
            logger.log(level: level, "\(error.reason)", metadata: metadata)
        }
    }
}

extension Refusal.ContinueLink {
    fileprivate func address(at issuer: Issuer, home: Endpoint) -> String {
        switch self {
        case .home: issuer.path + home.path
        case .address(let address): address
        }
    }
}

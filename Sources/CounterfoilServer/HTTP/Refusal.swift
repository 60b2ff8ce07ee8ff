import CounterfoilProtocol
import Foundation
import HTTPTypes
import Logging

/// An error that knows how it is answered; any other error that is thrown is a fault of the server.
protocol Refusing: Error {
    /// The answer.
    var refusal: Refusal { get }
}

/// Whatever kept a request from its answer, and how that is said: the one place where a thrown error becomes an answer.
public struct Refusal: Sendable {
    /// Who reads the answer.
    public enum Reader: Sendable {
        /// A person, on a page.
        case page
        /// A program, as JSON.
        case json
    }

    /// Where the button leads that goes on from the page.
    enum WayOn: Sendable {
        /// To the first of the pages for signed-in users.
        case home
        /// To an address.
        case address(String)
    }

    private let status: HTTPResponse.Status
    private let error: OAuthError
    private let problem: Problem
    private let values: [String: Text.Value]
    private var fault: String?
    private var fields: HTTPFields = [:]
    private var wayOn: WayOn?
    /// The answer that stands in place of a page or JSON: the way to the client, or to another page of ours.
    private var redirect: Reply?

    /// A refusal that a page says in the words of a problem, and JSON as an error of the protocol.
    ///
    /// - Parameters:
    ///   - description: `error_description` of JSON, in English (RFC 6749 §5.2).
    ///   - fault: what the log says, where the operator has something to mend.
    ///   - wayOn: where the button leads that goes on from the page.
    init(
        _ status: HTTPResponse.Status, _ code: OAuthError.Code, _ problem: Problem,
        _ values: [String: Text.Value] = [:],
        description: String? = nil, fault: String? = nil, retryAfter: Int? = nil, wayOn: WayOn? = nil
    ) {
        self.status = status
        let reason = Words.english(problem.explanation(values))
        error = description.map { OAuthError(code, $0) } ?? OAuthError(code, nil, reason: reason)
        self.problem = problem
        self.values = values
        self.fault = fault
        self.wayOn = wayOn
        if let retryAfter { fields[.retryAfter] = String(retryAfter) }
    }

    /// A refusal of the protocol, which its description explains to programs and its code to people.
    init(_ error: OAuthError, status: HTTPResponse.Status = .badRequest) {
        self.status = status
        self.error = error
        problem = .requestRefused
        values = ["reason": .text(error.code.rawValue)]
        fault = nil
    }

    /// A refusal that sends the user agent elsewhere.
    init(_ error: OAuthError, to redirect: Reply) {
        self.init(error, status: redirect.status)
        self.redirect = redirect
    }

    init(_ thrown: any Error, issuer: Issuer) {
        switch thrown {
        case let refusing as any Refusing:
            self = refusing.refusal
        case let error as OAuthError:
            self.init(error)
        case let refused as ClientRefusal:
            self.init(refused.error, status: refused.asksForAuthentication ? .unauthorized : .badRequest)
            if refused.asksForAuthentication { fields[.wwwAuthenticate] = "Basic realm=\"token endpoint\"" }
        case let refused as BearerRefusal:
            self.init(refused.error, status: refused.status)
            fields[.wwwAuthenticate] = refused.challenge.description
        case let refused as AuthorizationFlow.Refused:
            let answer =
                refused.needsChoice
                ? refused.page(issuer: issuer) : refused.answer(issuer: issuer).reply(.refused, issuer: issuer)
            self.init(refused.error, status: answer.status)
            redirect = answer
            fault = refused.fault.map { String(describing: $0) }
        default:
            self.init(.internalServerError, .serverError, .fault, fault: String(describing: thrown))
        }
    }

    /// The refusal without a way to another page, for an origin that does not have it.
    var withoutWayOn: Refusal {
        var refusal = self
        refusal.wayOn = nil
        return refusal
    }

    /// The answer.
    func reply(as reader: Reader, in words: Words, issuer: Issuer, home: Endpoint, requestID: String) -> Reply {
        if let redirect { return redirect }
        switch reader {
        case .json:
            // In one order, so that answers that say the same are the same.
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let body = (try? encoder.encode(TokenErrorResponse(error))) ?? Data(#"{"error":"server_error"}"#.utf8)
            return Reply(status, .json(Array(body)), fields: fields)
        case .page:
            let page = ProblemPage(
                status: status.code, title: words(problem.title(values)),
                explanation: words(problem.explanation(values)), advice: words(problem.advice(values)),
                requestID: requestID,
                wayOn: wayOn.map { .init(address: $0.address(at: issuer, home: home), title: words(problem.wayOn())) }
            )
            return Reply(status, .page(page), fields: fields)
        }
    }

    /// A fault is the operator's to mend and an error; a refusal is the product at work and information.
    func log(to logger: Logger, request: IncomingRequest, endpoint: Endpoint) {
        let metadata: Logger.Metadata = [
            "request": "\(request.id)", "endpoint": "\(endpoint)", "error": "\(error.code)",
            "status": "\(status.code)",
        ]
        if let fault {
            logger.error("\(fault)", metadata: metadata)
        } else {
            logger.info("\(error.reason)", metadata: metadata)
        }
    }
}

extension Refusal.WayOn {
    fileprivate func address(at issuer: Issuer, home: Endpoint) -> String {
        switch self {
        case .home: issuer.path + home.path
        case .address(let address): address
        }
    }
}

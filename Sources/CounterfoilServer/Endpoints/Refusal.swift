import CounterfoilProtocol
import Foundation
import HTTPTypes
import Logging

/// Whatever kept a request from its answer, and how that is said: the one place where a thrown error becomes an answer.
public struct Refusal: Sendable {
    /// Who reads the answer.
    public enum Reader: Sendable {
        /// A person, on a page.
        case page
        /// A program, as JSON.
        case json
    }

    private let status: HTTPResponse.Status
    private let error: OAuthError
    private let title: String
    private let advice: String
    private let explanation: String
    private let fault: String?
    private let settings: ServerSettings
    private let requestID: String
    private var fields: HTTPFields = [:]
    private var redirect: String?

    /// A body that is larger than the endpoint takes.
    public static func tooLarge(_ settings: ServerSettings, requestID: String, limit: Int) -> Refusal {
        Refusal(
            .contentTooLarge, OAuthError(.invalidRequest, "the body is larger than \(limit) bytes"),
            title: "This request is too large",
            explanation: "The server takes at most \(limit) bytes here.",
            advice: "Go back to the application and start again.",
            settings: settings, requestID: requestID
        )
    }

    /// A body that did not arrive in time.
    public static func tooSlow(_ settings: ServerSettings, requestID: String) -> Refusal {
        Refusal(
            .requestTimeout, OAuthError(.invalidRequest, "the body did not arrive in time"),
            title: "This request took too long",
            explanation: "The server did not receive all of it in time.",
            advice: "Check your connection and try again.",
            settings: settings, requestID: requestID
        )
    }

    /// A request line that is longer than the server takes.
    public static func targetTooLong(_ settings: ServerSettings, requestID: String, limit: Int) -> Refusal {
        Refusal(
            .uriTooLong, OAuthError(.invalidRequest, "the address is longer than \(limit) bytes"),
            title: "This address is too long",
            explanation: "The server takes addresses of at most \(limit) bytes.",
            advice: "Go back to the application and start again.",
            settings: settings, requestID: requestID
        )
    }

    /// An address where there is nothing.
    public static func notFound(_ settings: ServerSettings, requestID: String) -> Refusal {
        Refusal(
            .notFound, OAuthError(.invalidRequest, "there is nothing at this address"),
            title: "There is nothing here",
            explanation: "The address that you opened does not exist on this server.",
            advice: "Check the address, or start again in the application that sent you here.",
            settings: settings, requestID: requestID
        )
    }

    private init(
        _ status: HTTPResponse.Status,
        _ error: OAuthError,
        title: String,
        explanation: String,
        advice: String,
        fault: String? = nil,
        settings: ServerSettings,
        requestID: String
    ) {
        self.status = status
        self.error = error
        self.title = title
        self.explanation = explanation
        self.advice = advice
        self.fault = fault
        self.settings = settings
        self.requestID = requestID
    }

    init(_ thrown: any Error, settings: ServerSettings, requestID: String) {
        func refusal(
            _ status: HTTPResponse.Status, _ code: OAuthError.Code, _ title: String, _ explanation: String,
            _ advice: String, fault: String? = nil
        ) -> Refusal {
            Refusal(
                status, OAuthError(code, nil, reason: explanation), title: title, explanation: explanation,
                advice: advice,
                fault: fault, settings: settings, requestID: requestID
            )
        }
        switch thrown {
        case let error as OAuthError:
            self = Self.oauth(error, status: .badRequest, settings: settings, requestID: requestID)
        case let refused as ClientRefusal:
            self = Self.oauth(
                refused.error, status: refused.usedAuthorizationField ? .unauthorized : .badRequest, settings: settings,
                requestID: requestID
            )
            if refused.usedAuthorizationField { fields[.wwwAuthenticate] = "Basic realm=\"token endpoint\"" }
        case let refused as AuthorizationFlow.Refused:
            self = Self.oauth(refused.error, status: .seeOther, settings: settings, requestID: requestID)
            redirect = refused.url(issuer: settings.issuer)
        case let unanswered as UnansweredRequest:
            self = refusal(
                .badRequest, .invalidRequest, "This application's request cannot be answered",
                Self.sentence("\(unanswered)"),
                "Go back to the application and try again. If it happens again, tell the people who make it."
            )
        case let problem as PageProblem:
            self = Self.page(problem, refusal)
        case SetupProblem.linkOver:
            self = refusal(
                .notFound, .invalidRequest, "This link is over",
                "The link has been used, or a newer one was made when the server started again.",
                "Look for the newest link where the server prints its messages."
            )
        case let notApproved as AuthorizationFlow.NotApproved:
            self = Self.notApproved(notApproved, refusal)
        case let overloaded as PasswordHasher.Overloaded:
            self = refusal(
                .tooManyRequests, .temporarilyUnavailable, "Too many people are signing in right now",
                "The server checks only so many passwords at a time.", "Wait a few seconds and try again."
            )
            fields[.retryAfter] = String(overloaded.retryAfter)
        case StoreFault.unavailable(let reason):
            self = refusal(
                .serviceUnavailable, .temporarilyUnavailable, "The server cannot do this right now",
                "It could not reach its records. Nothing was changed.", "Wait a few seconds and try again.",
                fault: reason
            )
            fields[.retryAfter] = "5"
        default:
            self = refusal(
                .internalServerError, .serverError, "Something went wrong on the server", "It is not your fault.",
                "Try again. If it happens again, tell the people who run this server, with the reference below.",
                fault: String(describing: thrown)
            )
        }
    }

    /// The answer.
    public func reply(as reader: Reader) -> Reply {
        if let redirect { return .seeOther(redirect) }
        switch reader {
        case .json:
            let body = (try? TokenErrorResponse(error).encoded()) ?? Array(#"{"error":"server_error"}"#.utf8)
            return Reply(status, .json(body), fields: fields)
        case .page:
            let page = ProblemPage(
                siteName: settings.siteName, status: status.code, title: title, explanation: explanation,
                advice: advice,
                requestID: requestID
            )
            return Reply(status, .page(.problem(page)), fields: fields)
        }
    }

    /// A fault is the operator's to mend and an error; a refusal is the product at work and information.
    func log(to logger: Logger, request: IncomingRequest, endpoint: Endpoint) {
        let metadata: Logger.Metadata = [
            "request": "\(requestID)", "endpoint": "\(endpoint)", "error": "\(error.code)", "status": "\(status.code)",
        ]
        if let fault {
            logger.error("\(fault)", metadata: metadata)
        } else {
            logger.info("\(error.reason)", metadata: metadata)
        }
    }

    private static func oauth(
        _ error: OAuthError, status: HTTPResponse.Status, settings: ServerSettings, requestID: String
    ) -> Refusal {
        Refusal(
            status, error, title: "This request cannot be answered",
            explanation: sentence(error.description ?? error.code.rawValue),
            advice: "Go back to the application and try again.", settings: settings, requestID: requestID
        )
    }

    private typealias Make = (HTTPResponse.Status, OAuthError.Code, String, String, String, String?) -> Refusal

    private static func page(_ problem: PageProblem, _ make: Make) -> Refusal {
        switch problem {
        case .fromElsewhere:
            make(
                .forbidden, .invalidRequest, "This form did not come from here",
                "The form was not sent from the page that this server showed in this browser.",
                "Go back to the application and start again. Somebody may have tried to act in your name.", nil)
        case .unreadableForm(let error):
            make(
                .badRequest, .invalidRequest, "This form cannot be read",
                sentence(error.description ?? error.code.rawValue),
                "Go back to the application and start again.", nil)
        case .pageExpired:
            make(
                .badRequest, .invalidRequest, "This page was open for too long", "It is no longer valid, to be safe.",
                "Go back to the application and start again.", nil)
        case .cookiesMissing:
            make(
                .badRequest, .invalidRequest, "Your browser did not send our cookie",
                "Signing in needs a cookie of this server, and none came along.",
                "Allow cookies for this server, or close private tabs that were open before, and start again.", nil)
        case .noDecision:
            make(
                .badRequest, .invalidRequest, "No decision arrived",
                "The form came without the button that you pressed.",
                "Go back and press Allow or Cancel.", nil)
        }
    }

    private static func notApproved(_ problem: AuthorizationFlow.NotApproved, _ make: Make) -> Refusal {
        switch problem {
        case .alreadyAnswered:
            make(
                .badRequest, .invalidRequest, "You have answered this already",
                "Each question is answered once, and the answer has gone to the application.",
                "Look at the application. If it still waits, start again there.", nil)
        case .clientGone:
            make(
                .badRequest, .invalidRequest, "This application is no longer registered",
                "It was removed while this page was open. Nothing was given to it.",
                "If you still need it, ask the people who make it.", nil)
        case .personGone:
            make(
                .forbidden, .accessDenied, "This account cannot be used any more",
                "It was switched off while this page was open. Nothing was given to the application.",
                "Ask the people who run this server.", nil)
        }
    }

    /// The text as a sentence of its own.
    private static func sentence(_ text: String) -> String {
        let capital = text.prefix(1).uppercased() + text.dropFirst()
        return capital.hasSuffix(".") ? capital : capital + "."
    }
}

extension TokenErrorResponse {
    fileprivate func encoded() throws -> [UInt8] {
        Array(try JSONEncoder().encode(self))
    }
}

import CounterfoilProtocol
import HTTPTypes

extension Refusal {
    /// A body that exceeds the limit of the endpoint.
    package static func tooLarge(limit: Int) -> Refusal {
        Refusal(
            .contentTooLarge, .invalidRequest, .tooLarge, ["limit": .number(limit)],
            description: "the body is larger than \(limit) bytes")
    }

    /// A body that did not arrive in time.
    package static let tooSlow = Refusal(
        .requestTimeout, .invalidRequest, .tooSlow, description: "the body did not arrive in time")

    /// A body that arrived while the server held too many bytes of bodies.
    package static let overloaded = Refusal(
        .serviceUnavailable, .temporarilyUnavailable, .overloaded,
        description: "the server is receiving too many large requests", retryAfter: 5)

    /// A request target that exceeds the limit of the server.
    package static func targetTooLong(limit: Int) -> Refusal {
        Refusal(
            .uriTooLong, .invalidRequest, .addressTooLong, ["limit": .number(limit)],
            description: "the URL is longer than \(limit) bytes")
    }

    /// A host name that does not belong to the server (RFC 9110 §15.5.20).
    package static let misdirected = Refusal(
        .misdirectedRequest, .invalidRequest, .notFound,
        description: "the Host field names neither the host of the issuer nor that of --callback-origin")

    /// A URL without a page or file, or without one that this user may see.
    package static let notFound = Refusal(
        .notFound, .invalidRequest, .notFound, description: "there is no resource at this URL", continueLink: .home)
}

extension ResponseTargetError: Refusing {
    var refusal: Refusal {
        guard let application else {
            return Refusal(.badRequest, .invalidRequest, .requestUnanswered, ["reason": .nested(text)])
        }
        return Refusal(
            .badRequest, .invalidRequest, .applicationUnanswered,
            ["application": .name(application), "reason": .nested(text)])
    }
}

extension PageProblem: Refusing {
    var refusal: Refusal {
        switch self {
        case .fromElsewhere: Refusal(.forbidden, .invalidRequest, .fromElsewhere)
        case .unreadableForm(let form):
            Refusal(
                .badRequest, .invalidRequest, .unreadableForm, ["reason": .nested(form.text)], description: "\(form)")
        case .pageExpired: Refusal(.badRequest, .invalidRequest, .pageExpired)
        case .cookiesMissing: Refusal(.badRequest, .invalidRequest, .cookiesMissing)
        case .noDecision: Refusal(.badRequest, .invalidRequest, .noDecision)
        }
    }
}

extension SetupProblem: Refusing {
    var refusal: Refusal {
        switch self {
        case .linkOver: Refusal(.notFound, .invalidRequest, .linkOver)
        }
    }
}

extension AuthorizationFlow.ApprovalError: Refusing {
    var refusal: Refusal {
        switch self {
        case .alreadyAnswered: Refusal(.badRequest, .invalidRequest, .alreadyAnswered)
        case .clientChanged(let askAgain):
            Refusal(.conflict, .invalidRequest, .clientChanged, continueLink: .address(askAgain))
        case .clientGone: Refusal(.badRequest, .invalidRequest, .clientGone)
        case .personGone: Refusal(.forbidden, .accessDenied, .personGone)
        case .outdated(let startAgain, let error): Refusal(error, to: .seeOther(startAgain))
        }
    }
}

/// The error for a URL without a page or file, or without one that this user may see.
///
/// The response is the same in both cases.
package struct NotFoundError: Error {
    package init() {}
}

extension NotFoundError: Refusing {
    var refusal: Refusal { .notFound }
}

extension BoundedQueue.Overloaded: Refusing {
    var refusal: Refusal { Refusal(.tooManyRequests, .temporarilyUnavailable, .tooBusy, retryAfter: retryAfter) }
}

extension StoreFault: Refusing {
    var refusal: Refusal {
        switch self {
        case .unavailable(let reason):
            Refusal(.serviceUnavailable, .temporarilyUnavailable, .unavailable, fault: reason, retryAfter: 5)
        case .damaged:
            Refusal(.internalServerError, .serverError, .fault, fault: String(describing: self))
        }
    }
}

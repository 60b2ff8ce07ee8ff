import CounterfoilProtocol
import CounterfoilStore
import HTTPTypes

extension Refusal {
    /// Creates the refusal of a body that exceeds the size limit of the endpoint, given in bytes.
    package static func tooLarge(limit: Int) -> Refusal {
        Refusal(
            .contentTooLarge, .invalidRequest, .tooLarge, ["limit": .number(limit)],
            description: "the body is larger than \(limit) bytes")
    }

    /// The refusal of a request whose body did not arrive in time.
    package static let tooSlow = Refusal(
        .requestTimeout, .invalidRequest, .tooSlow, description: "the body did not arrive in time")

    /// The refusal of a request whose body arrived while too many bytes of request bodies were in memory.
    package static let overloaded = Refusal(
        .serviceUnavailable, .temporarilyUnavailable, .overloaded,
        description: "the server is receiving too many large requests", retryAfter: 5)

    /// The refusal of a request that may have waited while the process was paused.
    ///
    /// The client may have repeated the request at another server meanwhile.
    package static let delayed = Refusal(
        .serviceUnavailable, .temporarilyUnavailable, .unavailable,
        description: "the server was paused while the request waited; send it again", retryAfter: 2)

    /// Creates the refusal of a request target that exceeds the length limit of the server, given in bytes.
    package static func targetTooLong(limit: Int) -> Refusal {
        Refusal(
            .uriTooLong, .invalidRequest, .uriTooLong, ["limit": .number(limit)],
            description: "the URL is longer than \(limit) bytes")
    }

    /// The refusal of a request whose host name does not belong to the server (RFC 9110 §15.5.20).
    package static let misdirected = Refusal(
        .misdirectedRequest, .invalidRequest, .notFound,
        description: "the Host field names neither the host of the issuer nor that of --callback-origin")

    /// The refusal of a request for a URL at which nothing exists, or nothing that this user may see.
    package static let notFound = Refusal(
        .notFound, .invalidRequest, .notFound, description: "there is no resource at this URL", continueLink: .home)
}

extension PageProblem: Refusing {
    var refusal: Refusal {
        switch self {
        case .fromElsewhere: Refusal(.forbidden, .invalidRequest, .fromElsewhere)
        case .unreadableForm(let form):
            Refusal(
                .badRequest, .invalidRequest, .unreadableForm, ["reason": .nested(form.text)], description: "\(form)")
        case .pageOutdated(let again):
            Refusal(.forbidden, .invalidRequest, .pageOutdated, continueLink: .address(again))
        case .pageExpired(let again):
            Refusal(.badRequest, .invalidRequest, .pageExpired, continueLink: .address(again))
        case .cookiesMissing(let again):
            Refusal(.badRequest, .invalidRequest, .cookiesMissing, continueLink: .address(again))
        case .noDecision: Refusal(.badRequest, .invalidRequest, .noDecision)
        }
    }
}

/// The error that nothing exists at a URL, or nothing that this user may see.
///
/// The response is the same in both cases, so it does not reveal what exists.
package struct NotFoundError: Error {
    package init() {}
}

extension NotFoundError: Refusing {
    var refusal: Refusal { .notFound }
}

/// The error that a user opens the registration of clients, which ``RegistrationPolicy`` leaves to others.
package struct RegistrationClosedError: Error {
    package init() {}
}

extension RegistrationClosedError: Refusing {
    var refusal: Refusal { Refusal(.forbidden, .accessDenied, .registrationClosed, continueLink: .home) }
}

/// The failure of a request that a later one need not meet, while the store works: other requests changed what it
/// needed, or its deadline has passed.
struct TransientFailure: Refusing {
    /// The reason that the log shows.
    let reason: String

    var refusal: Refusal {
        Refusal(.serviceUnavailable, .temporarilyUnavailable, .unavailable, fault: reason, retryAfter: 5)
    }
}

extension StoreFault: Refusing {
    /// The fault as the log shows it for a request; nil for a value that this version does not know.
    ///
    /// The store reports such a value once, so that requests cannot fill the log with errors.
    var logged: String? {
        if case .unsupported = self { nil } else { String(describing: self) }
    }

    var refusal: Refusal {
        var refusal =
            switch self {
            case .unavailable(let reason):
                Refusal(.serviceUnavailable, .temporarilyUnavailable, .unavailable, fault: reason, retryAfter: 5)
            case .unconfirmed:
                Refusal(
                    .serviceUnavailable, .temporarilyUnavailable, .unconfirmed, fault: String(describing: self),
                    retryAfter: 1)
            case .damaged:
                Refusal(.internalServerError, .serverError, .fault, fault: String(describing: self))
            // A server of the newer version beside this one can answer a retry.
            case .unsupported:
                Refusal(.serviceUnavailable, .temporarilyUnavailable, .unavailable, retryAfter: 5)
            }
        refusal.storeFault = self
        return refusal
    }
}

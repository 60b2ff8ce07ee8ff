/// An attribute of a span, by the semantic conventions of OpenTelemetry.
///
/// These are all attributes that a trace contains. None of them has a value that names a user, or that a user or a
/// client keeps secret. A request target is never one: its query contains codes.
package enum TraceAttribute: Sendable, Hashable {
    /// The method of a request; a method that is not in RFC 9110 or RFC 5789 becomes `_OTHER`.
    case method(String)
    /// The path of an endpoint, with placeholders.
    case route(String)
    /// The status of a response.
    case status(Int)
    /// The identifier of the request, which error pages and the log show.
    case requestID(String)
    /// The scheme of the issuer.
    case scheme(String)
    /// The `error` code of OAuth, or the kind of a failure.
    case errorType(String)
    /// The database of the store.
    case database(StoreMeasurements.Kind)
    /// The operation of the store.
    case operation(String)
    /// The host that a request of the server goes to.
    case host(String)
    /// The time for which a password hash waited for a core.
    case waiting(Duration)

    /// The value of an attribute.
    package enum Value: Sendable, Hashable {
        case text(String)
        case integer(Int)
        case number(Double)
    }

    /// The value of `error.type` for an error of which nothing else is known.
    package static let unspecifiedError = "_OTHER"

    /// The name of the attribute.
    package var name: String {
        switch self {
        case .method: "http.request.method"
        case .route: "http.route"
        case .status: "http.response.status_code"
        case .requestID: "counterfoil.request.id"
        case .scheme: "url.scheme"
        case .errorType: "error.type"
        case .database: "db.system.name"
        case .operation: "db.operation.name"
        case .host: "server.address"
        case .waiting: "counterfoil.password_hash.wait"
        }
    }

    /// The value; durations are in seconds.
    package var value: Value {
        switch self {
        case .method(let method): .text(Self.known(method) ?? "_OTHER")
        case .route(let text), .requestID(let text), .scheme(let text), .errorType(let text), .operation(let text),
            .host(let text):
            .text(text)
        case .status(let status): .integer(status)
        case .database(let kind): .text(kind.rawValue)
        case .waiting(let duration): .number(duration / .seconds(1))
        }
    }

    /// The name of a method, if it is a standard one.
    package static func known(_ method: String) -> String? { standardMethods.contains(method) ? method : nil }

    private static let standardMethods: Set = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]
}

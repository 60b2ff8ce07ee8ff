import CounterfoilServer
import HTTPTypes

/// The head of a request with the endpoint that its host name and path lead to.
struct RoutedHead: Sendable {
    let request: HTTPRequest
    let outcome: Routing.Outcome
    /// Whether the request target exceeds the limit, so that no endpoint was looked for.
    let targetIsTooLong: Bool

    /// Whether the endpoint has the method of the request.
    var takesMethod: Bool { outcome.route?.endpoint.methods.contains(request.method) ?? false }

    /// The most bytes that the endpoint takes as the body; 0 for a method that it does not have.
    var bodyLimit: Int {
        guard takesMethod, let endpoint = outcome.route?.endpoint else { return 0 }
        return endpoint.bodyLimit
    }

    /// Whether a large body is read for a signed-in user only.
    var bodyNeedsSession: Bool { outcome.route?.endpoint.bodyNeedsSession ?? false }

    /// The length of the body that the head announces (RFC 9112 §6.3); nil when it is not known.
    var announcedLength: Int? {
        if request.headerFields.contains(.transferEncoding) { return nil }
        return request.headerFields[.contentLength].map { Int($0) ?? .max } ?? 0
    }

    /// Whether the client closes the connection after the answer (RFC 9112 §9.6).
    var asksToClose: Bool {
        request.headerFields[values: .connection].contains { value in
            value.lowercased().split(separator: ",").contains { $0.filter { $0 != " " && $0 != "\t" } == "close" }
        }
    }
}

/// A request, complete or as far as it was read.
enum ReceivedRequest: Sendable {
    case whole(RoutedHead, [UInt8])
    /// The body exceeds the limit of its endpoint.
    case tooLarge(RoutedHead)
    /// The body did not arrive in time.
    case late(RoutedHead)
    /// The server holds too many bytes of request bodies.
    case overloaded(RoutedHead)

    var head: RoutedHead {
        switch self {
        case .whole(let head, _), .tooLarge(let head), .late(let head), .overloaded(let head): head
        }
    }

    var body: [UInt8] {
        switch self {
        case .whole(_, let body): body
        case .tooLarge, .late, .overloaded: []
        }
    }
}

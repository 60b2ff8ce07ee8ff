import CounterfoilServer
import HTTPTypes

/// The head of a request, with the result of routing by host name and path.
struct RoutedHead: Sendable {
    let request: HTTPRequest
    let outcome: Routing.Outcome
    /// Whether the request target exceeds its limit.
    ///
    /// A request with such a target is not routed.
    let targetIsTooLong: Bool
    /// Whether a body follows whose length the head does not state, with HTTP/2 (RFC 9113 §8.1).
    var hasOpenBody = false

    /// Whether the endpoint supports the method of the request.
    var takesMethod: Bool { outcome.route?.endpoint.methods.contains(request.method) ?? false }

    /// The maximum length of the body in bytes; 0 for a method that the endpoint does not support.
    var bodyLimit: Int {
        guard takesMethod, let endpoint = outcome.route?.endpoint else { return 0 }
        return endpoint.bodyLimit
    }

    /// Whether the endpoint accepts a large body from signed-in users only.
    var bodyNeedsSession: Bool { outcome.route?.endpoint.bodyNeedsSession ?? false }

    /// Whether the response depends on what other servers on the store have done meanwhile.
    var dependsOnStore: Bool { outcome.route.map { !$0.endpoint.answersWithoutStore } ?? false }

    /// The length of the body according to the head; nil if the head does not state it.
    ///
    /// RFC 9112 §6.3, RFC 9113 §8.1.1
    var announcedLength: Int? {
        if hasOpenBody || request.headerFields.contains(.transferEncoding) { return nil }
        return request.headerFields[.contentLength].map { Int($0) ?? .max } ?? 0
    }

    /// Whether the client requests that the connection is closed after the response (RFC 9112 §9.6).
    var asksToClose: Bool {
        request.headerFields[values: .connection].contains { value in
            value.lowercased().split(separator: ",").contains { $0.filter { $0 != " " && $0 != "\t" } == "close" }
        }
    }
}

/// A request that arrived completely, or that is refused while its body arrives.
enum ReceivedRequest: Sendable {
    case whole(RoutedHead, [UInt8])
    /// The body exceeds the limit of its endpoint.
    case tooLarge(RoutedHead)
    /// The body did not arrive in time.
    case late(RoutedHead)
    /// `BodyBudget` has no room for the body.
    case overloaded(RoutedHead)
    /// The request may have waited while the process was paused (``PauseWatch``).
    case delayed(RoutedHead)

    var head: RoutedHead {
        switch self {
        case .whole(let head, _), .tooLarge(let head), .late(let head), .overloaded(let head), .delayed(let head): head
        }
    }

    var body: [UInt8] {
        switch self {
        case .whole(_, let body): body
        case .tooLarge, .late, .overloaded, .delayed: []
        }
    }
}

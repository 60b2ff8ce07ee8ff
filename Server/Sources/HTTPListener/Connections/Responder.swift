package import HTTPTypes
package import IPAddresses
import NIOConcurrencyHelpers

/// The part of a server that answers the requests of connections.
package protocol Responder: Sendable {
    typealias Answer = (head: HTTPResponse, body: [UInt8])

    /// Whether a connection closes after its first response, because its next request needs another responder.
    var answersOnce: Bool { get }

    /// Returns the rules for the rest of a request, and its answer, when its head has arrived.
    ///
    /// - Parameters:
    ///   - head: The head, with one host, and a path that begins with a slash.
    ///   - address: The address of the peer; nil if it is unknown.
    func routed(_ head: HTTPRequest, from address: IPAddress?) -> RoutedRequest
}

extension Responder {
    package var answersOnce: Bool { false }
}

/// A request whose head has arrived.
package struct RoutedRequest: Sendable {
    /// The head of the request.
    let head: HTTPRequest
    /// The maximum length of the body in bytes.
    let bodyLimit: Int
    /// Returns whether a large body may follow; nil if it may in each case.
    let admitsLargeBody: (@Sendable () async -> Bool)?
    /// Whether a request that may have waited during a pause of the process is refused.
    let isRefusedAfterPause: Bool
    /// Answers the request.
    let answer: @Sendable (ReceivedRequest) async -> Responder.Answer
    /// Whether a body follows whose length the head does not state, with HTTP/2 (RFC 9113 §8.1).
    var hasOpenBody = false

    /// Creates the rules for a request.
    ///
    /// - Parameters:
    ///   - head: The head of the request.
    ///   - bodyLimit: The maximum length of the body in bytes.
    ///   - admitsLargeBody: A function that decides by the head whether a large body is read; without one, it is.
    ///   - isRefusedAfterPause: Whether a request is refused that may have waited while the process was paused.
    ///   - answer: A function that answers the request.
    package init(
        _ head: HTTPRequest, bodyLimit: Int = 0, admitsLargeBody: (@Sendable () async -> Bool)? = nil,
        isRefusedAfterPause: Bool = false, answer: @escaping @Sendable (ReceivedRequest) async -> Responder.Answer
    ) {
        self.head = head
        self.bodyLimit = bodyLimit
        self.admitsLargeBody = admitsLargeBody
        self.isRefusedAfterPause = isRefusedAfterPause
        self.answer = answer
    }

    /// The length of the body according to the head; nil if the head does not state it.
    ///
    /// RFC 9112 §6.3, RFC 9113 §8.1.1
    var announcedLength: Int? {
        if hasOpenBody || head.headerFields.contains(.transferEncoding) { return nil }
        return head.headerFields[.contentLength].map { Int($0) ?? .max } ?? 0
    }

    /// Whether the client requests that the connection is closed after the response (RFC 9112 §9.6).
    var asksToClose: Bool {
        head.headerFields[values: .connection].contains { value in
            value.lowercased().split(separator: ",").contains { $0.filter { $0 != " " && $0 != "\t" } == "close" }
        }
    }
}

/// The rest of a request: its body, or the reason why it is refused.
package enum ReceivedRequest: Sendable {
    /// The request arrived completely, with this body.
    case whole([UInt8])
    /// The body exceeds the limit of the request.
    case tooLarge
    /// The body did not arrive in time.
    case late
    /// `BodyBudget` has no room for the body.
    case overloaded
    /// The request may have waited while the process was paused (`PauseWatch`).
    case delayed
}

/// The responder of new connections, which can be replaced.
///
/// A connection keeps the responder that it has got, so a request costs no look here.
package final class CurrentResponder: Sendable {
    private let responder: NIOLockedValueBox<any Responder>

    package init(_ responder: any Responder) { self.responder = NIOLockedValueBox(responder) }

    var current: any Responder { responder.withLockedValue { $0 } }

    package func replace(by new: any Responder) { responder.withLockedValue { $0 = new } }
}

import HTTPListener
import HTTPListenerTesting
import HTTPTypes
import IPAddresses
import Logging

/// A responder with a page, a form that every client can send, and one with a large body.
struct StreamResponder: Responder {
    static let page = "/page"
    static let form = "/form"
    static let largeForm = "/large-form"
    static let largePage = "/large-page"
    static let largePageSize = 20_000

    /// Whether a connection closes after its first response.
    var answersOnce = false

    func routed(_ head: HTTPRequest, from address: IPAddress?) -> RoutedRequest {
        switch head.path {
        case Self.form:
            RoutedRequest(head, bodyLimit: 32 * 1024, isRefusedAfterPause: true) { received in
                switch received {
                case .whole(let body): Self.answer(.ok, to: head, body)
                case .tooLarge: Self.answer(.contentTooLarge, to: head)
                case .late: Self.answer(.requestTimeout, to: head)
                case .overloaded, .delayed: Self.answer(.serviceUnavailable, to: head)
                }
            }
        case Self.largeForm:
            RoutedRequest(head, bodyLimit: 1 << 20, admitsLargeBody: Self.refuseLater) { received in
                if case .whole = received { return Self.answer(.forbidden, to: head) }
                return Self.answer(.serviceUnavailable, to: head)
            }
        case Self.page: RoutedRequest(head) { _ in Self.answer(.ok, to: head, Array("page".utf8)) }
        case Self.largePage:
            RoutedRequest(head) { _ in
                Self.answer(.ok, to: head, Array(repeating: UInt8(ascii: "a"), count: Self.largePageSize))
            }
        default: RoutedRequest(head) { _ in Self.answer(.notFound, to: head) }
        }
    }

    /// Refuses a body after some time, in which further bodies arrive.
    private static func refuseLater() async -> Bool {
        try? await Task.sleep(for: .milliseconds(50))
        return false
    }

    private static func answer(_ status: HTTPResponse.Status, to head: HTTPRequest, _ body: [UInt8] = []) -> Answer {
        let fields: HTTPFields = [.contentLength: "\(body.count)", .server: head.authority ?? "none"]
        return (HTTPResponse(status: status, headerFields: fields), head.method == .head ? [] : body)
    }
}

extension StreamServer {
    /// Runs `body` with a listener that has a ``StreamResponder``.
    static func run(answersOnce: Bool = false, _ body: (StreamServer) async throws -> Void) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let connections = OpenConnections(
            limits: .standard, trustedProxies: .none, trustsLoopback: false, logger: logger)
        try await run(
            answering: CurrentResponder(StreamResponder(answersOnce: answersOnce)), connections: connections,
            logger: logger, body)
    }
}

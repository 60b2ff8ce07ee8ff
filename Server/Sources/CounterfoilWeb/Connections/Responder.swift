@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import HTTPTypes
import NIOCore

/// The part of a server that answers the requests of connections.
protocol Responder: Sendable {
    typealias Answer = (head: HTTPResponse, body: [UInt8])

    /// Whether a connection closes after its first response, because its next request needs another responder.
    var answersOnce: Bool { get }

    /// Routes a request by its host name and path.
    func routed(_ head: HTTPRequest) -> RoutedHead

    /// Returns whether the session cookie in the head entitles the client to send a large body.
    func admitsLargeBody(of head: RoutedHead, from address: IPAddress?) async -> Bool

    /// Responds to a request.
    func respond(to request: ReceivedRequest, from address: IPAddress?) async -> Answer
}

/// The responder of new connections, which is replaced when the server has opened its store.
///
/// A connection keeps the responder that it has got, so a request costs no look here.
final class CurrentResponder: Sendable {
    private let responder: Mutex<any Responder>

    init(_ responder: any Responder) { self.responder = Mutex(responder) }

    var current: any Responder { responder.withLock { $0 } }

    func replace(by new: any Responder) { responder.withLock { $0 = new } }
}

/// The responder of a server that has not opened its store yet.
///
/// It answers the health checks. Everything else gets 503, the metadata and the key set too: the keys and the scopes
/// are in the store, and a document without them would stay in the caches of clients.
struct WaitingResponder: Responder {
    private let issuer: Issuer
    private let fields: ResponseFields
    private let date = DateField()
    private let isStopping: @Sendable () -> Bool

    init(_ settings: ServerSettings, isStopping: @escaping @Sendable () -> Bool) {
        issuer = settings.issuer
        fields = ResponseFields(settings)
        self.isStopping = isStopping
    }

    var answersOnce: Bool { true }

    func routed(_ head: HTTPRequest) -> RoutedHead {
        RoutedHead(request: head, outcome: .noEndpoint, targetIsTooLong: false)
    }

    func admitsLargeBody(of head: RoutedHead, from address: IPAddress?) async -> Bool { false }

    func respond(to request: ReceivedRequest, from address: IPAddress?) async -> Answer {
        let head = request.head.request
        let path = (head.path ?? "/").prefix { $0 != "?" }
        func isFor(_ endpoint: Endpoint) -> Bool { endpoint.paths(of: issuer).contains(String(path)) }
        let isLiveness = isFor(.liveness)
        let report = ReadinessReport(
            isStopping() ? .stopping : .starting, store: isFor(.processReadiness) ? nil : .unavailable)
        let body = isLiveness ? ReadinessReport.alive : report.json
        var response = HTTPResponse(
            status: isLiveness ? .ok : report.status, headerFields: isLiveness ? [:] : report.fields)
        response.headerFields[.contentType] = "application/json"
        response.headerFields[.cacheControl] = "no-store"
        fields.add(to: &response.headerFields)
        response.headerFields[.contentLength] = String(body.count)
        response.headerFields[.date] = date.text()
        return (response, head.method == .head ? [] : body)
    }
}

import CounterfoilProtocol
import CounterfoilServer
import HTTPListener
import HTTPTypes
import IPAddresses

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

    func routed(_ head: HTTPRequest, from address: IPAddress?) -> RoutedRequest {
        RoutedRequest(head) { _ in answer(head) }
    }

    private func answer(_ head: HTTPRequest) -> Answer {
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

public import CounterfoilServer
import HTTPTypes
public import Hummingbird
import NIOCore

/// Serves the metrics of the server at `/metrics`, in the text format of Prometheus.
public struct MetricsResponder: HTTPResponder {
    /// The request context of Hummingbird, without additional values.
    public typealias Context = BasicRequestContext

    private let server: AuthorizationServer
    private let connections: OpenConnections?
    private let certificate: CurrentCertificate?
    private let start = ContinuousClock.now

    /// Creates a responder for a server and its connections.
    ///
    /// The responder reports the time since this call as the uptime of the server. Without `connections`, it omits the
    /// connection metrics, and without `certificate`, those of the certificate.
    public init(
        _ server: AuthorizationServer, connections: OpenConnections? = nil, certificate: CurrentCertificate? = nil
    ) {
        self.server = server
        self.connections = connections
        self.certificate = certificate
    }

    /// Responds to `GET /metrics` with the metrics, and to other requests with status 404 or 405.
    public func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard (request.head.path ?? "").prefix(while: { $0 != "?" }) == "/metrics" else {
            return Response(status: .notFound)
        }
        guard request.method == .get else { return Response(status: .methodNotAllowed, headers: [.allow: "GET"]) }
        let refreshes = await server.refreshStatistics()
        let backlog = await server.logoutBacklog()
        var text = MetricsText()
        text.write(server.metrics.snapshot)
        if let refreshes { text.write(refreshes) }
        if let connections { text.write(connections.snapshot, limit: connections.limits.total) }
        if let backlog { text.write(logoutBacklog: backlog) }
        if let certificate { text.write(certificate.snapshot) }
        text.write(isDraining: server.isStopping)
        text.writeProcess(uptime: (ContinuousClock.now - start) / .seconds(1))
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text.text)))
    }
}

public import CounterfoilServer
import HTTPTypes
public import Hummingbird
import NIOCore

/// Serves the metrics of the server at `/metrics`, in the text format of Prometheus.
public struct MetricsResponder: HTTPResponder {
    /// The request context of Hummingbird, without additional values.
    public typealias Context = BasicRequestContext

    private let server: AuthorizationServer
    private let sources: MetricsSources
    private let start = ContinuousClock.now

    /// Creates a responder for a server and its connections.
    ///
    /// The responder reports the time since this call as the uptime of the server. Without `connections`, it omits the
    /// connection metrics, and without `certificate`, those of the certificate.
    public init(
        _ server: AuthorizationServer, connections: OpenConnections? = nil, certificate: CurrentCertificate? = nil
    ) {
        self.init(server, MetricsSources(connections: connections, certificate: certificate))
    }

    /// Creates a responder for a server and everything around it.
    package init(_ server: AuthorizationServer, _ sources: MetricsSources) {
        self.server = server
        self.sources = sources
    }

    /// Responds to `GET /metrics` with the metrics, and to other requests with status 404 or 405.
    public func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard (request.head.path ?? "").prefix(while: { $0 != "?" }) == "/metrics" else {
            return Response(status: .notFound)
        }
        guard request.method == .get else { return Response(status: .methodNotAllowed, headers: [.allow: "GET"]) }
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: await text())))
    }

    /// The metrics at this time.
    func text() async -> String {
        let refreshes = await server.refreshStatistics()
        let backlog = await server.logoutBacklog()
        let auditSealAge = await server.auditSealAge()
        var text = MetricsText()
        text.write(server.metrics.snapshot)
        if let refreshes { text.write(refreshes) }
        if let connections = sources.connections {
            text.write(connections.snapshot, limit: connections.limits.total)
        }
        if let backlog { text.write(logoutBacklog: backlog) }
        if let auditSealAge { text.write(auditSealAge: auditSealAge) }
        if let certificate = sources.certificate { text.write(certificate.snapshot) }
        text.write(isDraining: server.isStopping)
        if let store = sources.store { text.write(store()) }
        if let journal = sources.endingsJournal { text.write(endingsJournal: journal()) }
        text.write(passwordHashes: server.passwordHashes)
        text.write(signingKeys: server.signingKeys)
        if let directory = sources.dataDirectory { text.write(directory: directory) }
        if let time = sources.lastBackup?() { text.write(lastBackup: time) }
        if let spans = sources.droppedSpans { text.write(droppedSpans: spans()) }
        text.writeProcess(uptime: (ContinuousClock.now - start) / .seconds(1))
        return text.text
    }
}

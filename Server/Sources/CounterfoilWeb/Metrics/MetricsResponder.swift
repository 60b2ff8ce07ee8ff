import CounterfoilServer
import HTTPListener
import HTTPTypes
import IPAddresses

/// Serves the metrics of the server at `/metrics`, in the text format of Prometheus.
struct MetricsResponder: Responder {
    private let server: AuthorizationServer
    private let sources: MetricsSources
    private let start = ContinuousClock.now
    private let date = DateField()

    /// Creates a responder for a server and everything around it.
    ///
    /// The responder reports the time since this call as the uptime of the server.
    init(_ server: AuthorizationServer, _ sources: MetricsSources) {
        self.server = server
        self.sources = sources
    }

    func routed(_ head: HTTPRequest, from address: IPAddress?) -> RoutedRequest {
        RoutedRequest(head) { _ in await answer(head) }
    }

    /// Responds to `GET /metrics` with the metrics, and to other requests with status 404 or 405.
    private func answer(_ head: HTTPRequest) async -> Answer {
        var response = HTTPResponse(status: .ok)
        var body: [UInt8] = []
        if (head.path ?? "").prefix(while: { $0 != "?" }) != "/metrics" {
            response.status = .notFound
        } else if head.method != .get {
            response.status = .methodNotAllowed
            response.headerFields[.allow] = "GET"
        } else {
            // The files and the store are read on another thread than that of the connection.
            let text = await withTaskExecutorPreference(globalConcurrentExecutor) { await self.text() }
            body = Array(text.utf8)
            response.headerFields[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
            response.headerFields[.cacheControl] = "no-store"
        }
        response.headerFields[.contentLength] = String(body.count)
        response.headerFields[.date] = date.text()
        return (response, body)
    }

    /// The metrics at this time.
    func text() async -> String {
        let refreshes = await server.refreshStatistics()
        let backlog = await server.logoutBacklog()
        let mailBacklog = await server.mailBacklog()
        let webhooks = await server.webhookProgress()
        let auditSealAge = await server.auditSealAge()
        let isReady = await server.readiness().isReady
        let space = await sources.storeSpace?()
        var text = MetricsText()
        text.write(server.metrics.snapshot)
        if let refreshes { text.write(refreshes) }
        if let connections = sources.connections {
            text.write(connections.snapshot, limit: connections.limits.total)
        }
        if let backlog { text.write(logoutBacklog: backlog) }
        if let mailBacklog { text.write(mailBacklog: mailBacklog) }
        if let webhooks { text.write(webhooks: webhooks) }
        if let auditSealAge { text.write(auditSealAge: auditSealAge) }
        if let certificate = sources.certificate { text.write(certificate.snapshot) }
        if let orders = sources.orders { text.write(orders.snapshot) }
        text.write(isReady: isReady, isDraining: server.isStopping)
        if let store = sources.store { text.write(store()) }
        if let space { text.write(space) }
        if let count = sources.differingSettings?() { text.write(differingSettings: count) }
        if let journal = sources.endingsJournal { text.write(endingsJournal: journal()) }
        if let path = sources.endingsJournalPath { text.write(filesOfEndingsJournal: path) }
        text.write(passwordHashes: server.passwordHashes)
        text.write(signingKeys: server.signingKeys)
        if let directory = sources.dataDirectory { text.write(directory: directory) }
        if let time = sources.lastBackup?() { text.write(lastBackup: time) }
        if let spans = sources.droppedSpans { text.write(droppedSpans: spans()) }
        text.writeProcess(uptime: (ContinuousClock.now - start) / .seconds(1))
        return text.text
    }
}

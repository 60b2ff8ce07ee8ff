import CounterfoilServer
import Foundation
import HTTPTypes

/// The settings of traces, which the standard environment variables of OpenTelemetry hold (`OTEL_…`).
struct TraceSettings: Sendable {
    /// A certificate and key with which the server authenticates to the collector.
    struct ClientCertificate: Sendable, Equatable {
        let certificatePath: String
        let keyPath: String
    }

    /// The URL to which spans are posted.
    let endpoint: String
    /// The header fields of each post, which may hold a secret.
    let headers: [(name: String, value: String)]
    /// The time limit of a post.
    let timeout: Duration
    /// The path of the certificate authorities that the collector must have; nil for those of the system.
    let authoritiesPath: String?
    let clientCertificate: ClientCertificate?
    let sampler: TraceSampler
    /// The time between two posts.
    let delay: Duration
    /// The time limit of a post with its retries.
    let exportTimeout: Duration
    /// The number of spans that wait for a post; further ones are dropped.
    let queueLimit: Int
    /// The maximum number of spans in a post.
    let batchLimit: Int
    let serviceName: String
    /// The attributes of this process, without its name.
    let resource: [String: String]

    /// Reads the settings; returns nil if the variables do not switch traces on.
    init?(_ variables: TraceVariables) throws(TraceVariables.Refusal) {
        guard try !variables.isTrue("OTEL_SDK_DISABLED"), let endpoint = try variables.endpoint,
            try variables.sendsTraces
        else { return nil }
        self.endpoint = endpoint
        try variables.checkProtocol()
        headers = try variables.headers
        timeout = .milliseconds(try variables.exporterNumber("TIMEOUT", 1...600_000) ?? 10_000)
        try variables.checkCompression()
        authoritiesPath = try variables.certificates("CERTIFICATE")
        clientCertificate = try variables.clientCertificate
        sampler = try variables.sampler
        delay = .milliseconds(try variables.number("OTEL_BSP_SCHEDULE_DELAY", 100...600_000) ?? 1000)
        exportTimeout = .milliseconds(try variables.number("OTEL_BSP_EXPORT_TIMEOUT", 1...600_000) ?? 30_000)
        queueLimit = try variables.number("OTEL_BSP_MAX_QUEUE_SIZE", 1...1_000_000) ?? 2048
        let batchLimit = try variables.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1...1_000_000) ?? 512
        self.batchLimit = min(batchLimit, queueLimit)
        var resource = [
            "service.version": Build.version, "service.instance.id": UUID().uuidString.lowercased(),
        ]
        resource.merge(try variables.resource) { _, given in given }
        let named = resource.removeValue(forKey: "service.name")
        serviceName = variables.text("OTEL_SERVICE_NAME") ?? named ?? "counterfoil-server"
        self.resource = resource
    }
}

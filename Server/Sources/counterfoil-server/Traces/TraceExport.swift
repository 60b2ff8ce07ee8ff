import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import HTTPListener
import Logging
import OTel
import ServiceLifecycle
import Tracing

/// The traces of a server: the tracing of its requests, and the service that sends the spans to a collector.
///
/// The tracer of the library is not made the one of the process: other libraries would then begin spans of their own,
/// with complete URLs in their attributes.
struct TraceExport: Sendable {
    /// The tracing of requests.
    let requests: RequestTracing
    private let log: TraceExportLog
    private let library: any Service

    /// The number of spans that the collector did not get.
    var droppedSpans: Int { log.droppedSpans }

    /// Creates the traces that the environment of this process asks for; returns nil if it asks for none.
    ///
    /// Call it once, before other threads run: it changes the environment.
    init?(logger: Logger) throws(CommandFailure) {
        let variables = TraceVariables.take()
        do {
            guard let settings = try TraceSettings(variables) else { return nil }
            self = try Self.made(settings, logger: logger)
        } catch { throw Self.refusal(error) }
    }

    /// Throws if a start with this environment would fail.
    static func check(_ environment: [String: String]) throws(CommandFailure) {
        do { _ = try TraceSettings(TraceVariables(environment)) } catch { throw refusal(error) }
    }

    private static func refusal(_ error: any Error) -> CommandFailure {
        .refused("cannot send traces: \(error); unset OTEL_EXPORTER_OTLP_ENDPOINT to send none")
    }

    private init(requests: RequestTracing, log: TraceExportLog, library: any Service) {
        self.requests = requests
        self.log = log
        self.library = library
    }

    private static func made(_ settings: TraceSettings, logger: Logger) throws -> TraceExport {
        let log = TraceExportLog(logger)
        let backend = try OTel.makeTracingBackend(configuration: configuration(settings, log))
        return TraceExport(
            requests: tracing(settings.sampler, by: backend.factory), log: log, library: backend.service)
    }

    private static func tracing(_ sampler: TraceSampler, by tracer: some Tracer) -> RequestTracing {
        RequestTracing(sampler) { start, parent in
            var context = ServiceContext.topLevel
            if let parent { tracer.extract(parent, into: &context, using: ParentExtractor()) }
            return LibrarySpan(start, in: context, by: tracer)
        }
    }

    /// The configuration of the library, which decides nothing itself.
    private static func configuration(_ settings: TraceSettings, _ log: TraceExportLog) -> OTel.Configuration {
        var configuration = OTel.Configuration.default
        configuration.serviceName = settings.serviceName
        configuration.resourceAttributes = settings.resource
        configuration.diagnosticLogger = .custom(log.logger)
        configuration.diagnosticLogLevel = .warning
        configuration.logs.enabled = false
        configuration.metrics.enabled = false
        configuration.traces.sampler = .alwaysOn
        configuration.traces.batchSpanProcessor.scheduleDelay = settings.delay
        configuration.traces.batchSpanProcessor.exportTimeout = settings.exportTimeout
        configuration.traces.batchSpanProcessor.maxQueueSize = settings.queueLimit
        configuration.traces.batchSpanProcessor.maxExportBatchSize = settings.batchLimit
        configuration.traces.otlpExporter.endpoint = settings.endpoint
        configuration.traces.otlpExporter.headers = settings.headers.map { ($0.name, $0.value) }
        configuration.traces.otlpExporter.timeout = settings.timeout
        configuration.traces.otlpExporter.certificateFilePath = settings.authoritiesPath
        configuration.traces.otlpExporter.clientCertificateFilePath = settings.clientCertificate?.certificatePath
        configuration.traces.otlpExporter.clientKeyFilePath = settings.clientCertificate?.keyPath
        configuration.traces.otlpExporter.protocol = .httpProtobuf
        return configuration
    }

    /// Creates the service that sends the spans.
    ///
    /// It must end last, so that the spans of the last requests are sent. It ends at the deadline of the stop, or a
    /// second after it was told to end if that is later.
    func service(until deadline: StopDeadline) -> any Service { Sending(export: self, deadline: deadline) }

    private struct Sending: Service {
        let export: TraceExport
        let deadline: StopDeadline

        func run() async throws {
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            // It is no child of this task, which would wait for it: its client waits half a minute for a collector that
            // accepts no connection.
            let sending = Task { [export] in
                // A server never ends because of its traces.
                do { try await export.library.run() } catch is CancellationError {} catch {
                    export.log.note(dropped: 0, because: "the export ended: \(type(of: error))")
                }
                end.finish()
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in ends {}
                    try? await gracefulShutdown()
                }
                group.addTask {
                    try? await gracefulShutdown()
                    let end = max(deadline.end(within: .seconds(5)), .now + .seconds(1))
                    try? await Task.sleep(until: end, clock: .continuous)
                }
                await group.next()
                group.cancelAll()
            }
            sending.cancel()
            export.log.report()
        }
    }
}

/// A span of the library.
private struct LibrarySpan<Library: Tracer>: TraceSpan {
    let traceID: String
    private let span: Library.Span
    private let tracer: Library

    init(_ start: SpanStart, in context: ServiceContext, by tracer: Library) {
        let kind: SpanKind =
            switch start.kind {
            case .server: .server
            case .client: .client
            case .internal: .internal
            }
        let span = tracer.startSpan(start.name, context: context, ofKind: kind)
        self.span = span
        self.tracer = tracer
        traceID = span.context.otelTraceID ?? ""
        for attribute in start.attributes { note(attribute) }
    }

    func child(_ start: SpanStart) -> any TraceSpan { LibrarySpan(start, in: span.context, by: tracer) }

    func note(_ attribute: TraceAttribute) {
        let value: SpanAttribute =
            switch attribute.value {
            case .text(let text): .string(text)
            case .integer(let number): .int64(Int64(number))
            case .number(let number): .double(number)
            }
        span.updateAttributes { $0.set(attribute.name, value: value) }
    }

    func end(isError: Bool) {
        if isError { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }
}

/// Passes the parent of a request to the library.
private struct ParentExtractor: Extractor {
    func extract(key: String, from parent: TraceParent) -> String? { key == "traceparent" ? parent.header : nil }
}

import CounterfoilProtocol
import HTTPTypes

/// The health checks and the root path.
///
/// - `/healthz` reports liveness: it succeeds as long as the process answers.
/// - `/readyz` reports readiness: it fails if the store cannot be read.
/// - `/` redirects to the home page.
struct HealthEndpoints: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let home: Endpoint

    var handlers: [EndpointHandler] {
        [
            EndpointHandler(.home) { _, _ in .seeOther(settings.issuer.path + home.path) },
            EndpointHandler(.liveness) { _, _ in Reply(.ok, .json(Array(#"{"status":"alive"}"#.utf8))) },
            EndpointHandler(.readiness) { _, _ in
                try await registry.checkStore()
                return Reply(.ok, .json(Array(#"{"status":"ready"}"#.utf8)))
            },
        ]
    }
}

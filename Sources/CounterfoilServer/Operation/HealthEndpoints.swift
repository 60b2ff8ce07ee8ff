import CounterfoilProtocol
import HTTPTypes

/// The endpoints `/`, which redirects to the home page, `/healthz` for liveness, and `/readyz` for readiness, which
/// fails if the store cannot be read.
struct HealthEndpoints: Sendable {
    let settings: ServerSettings
    let store: any ScopeStore
    let home: Endpoint

    var handlers: [EndpointHandler] {
        [
            EndpointHandler(.home) { _, _ in .seeOther(settings.issuer.path + home.path) },
            EndpointHandler(.liveness) { _, _ in Reply(.ok, .json(Array(#"{"status":"alive"}"#.utf8))) },
            EndpointHandler(.readiness) { _, _ in
                _ = try await store.scopes()
                return Reply(.ok, .json(Array(#"{"status":"ready"}"#.utf8)))
            },
        ]
    }
}

import CounterfoilProtocol
import HTTPTypes

/// The health checks, the root path, and the well-known URL of the change of the password.
///
/// - `/livez` reports liveness: it succeeds as long as the process answers. `/healthz` is a second path of it. To an
///   operator it also says from which address a request comes (``AddressCheck``).
/// - `/readyz` reports readiness: it fails while the process stops, and names the state of the store.
/// - `/` redirects to the home page, and `/.well-known/change-password` to the page that changes the password.
struct HealthEndpoints: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let lifetime: ServerLifetime
    let pages: ServerPages
    let addresses: AddressCheck

    /// The time for which readiness waits for the store, which is shorter than the patience of most load balancers.
    private static let patience = Duration.milliseconds(500)

    var handlers: [EndpointHandler] {
        [
            EndpointHandler(.home) { _, _ in .seeOther(settings.issuer.path + pages.home.path) },
            EndpointHandler(.passwordChange) { _, _ in .seeOther(settings.issuer.path + pages.passwordChange.path) },
            EndpointHandler(.liveness) { request, now in
                let answer = addresses.answer(to: request, issuer: settings.issuer, now: now)
                return Reply(.ok, .json(try answer?.encoded() ?? ReadinessReport.alive))
            },
            EndpointHandler(.formerLiveness) { _, _ in Reply(.ok, .json(ReadinessReport.alive)) },
            EndpointHandler(.readiness) { _, _ in
                let report = ReadinessReport(lifetime.isStopping ? .stopping : .ready, store: await storeState())
                return Reply(report.status, .json(report.json), fields: report.fields)
            },
        ]
    }

    private func storeState() async -> ReadinessReport.StoreState {
        do {
            try await RequestDeadline.$current.withValue(.now + Self.patience) { try await registry.checkStore() }
            return lifetime.heartbeatFails ? .readOnly : .available
        } catch {
            if case .damaged? = error as? StoreFault { return .damaged }
            return .unavailable
        }
    }
}

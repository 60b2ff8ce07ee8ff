import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The limits of the two endpoints for registrations, and the audit events of requests beyond them.
struct RegistrationLimits: Sendable {
    let settings: ServerSettings
    let throttle: RegistrationThrottle
    /// The failures of tokens, which are counted together with forged access tokens.
    let forgeries: ClientThrottle
    let auditor: Auditor

    /// Counts a registration or a change, before it causes a request to another host or a record.
    ///
    /// - Parameters:
    ///   - client: The client that changes its registration; nil for a new one.
    ///   - hasToken: Whether the request has a valid initial access token.
    func count(
        _ request: IncomingRequest, of client: ClientIdentifier? = nil, hasToken: Bool = false, now: Date
    ) async throws {
        do {
            try throttle.note(
                from: request.countedSource(settings.issuer), hasToken: hasToken,
                within: SharedLimit(
                    perSource: settings.registrationsPerSource, total: settings.registrationsPerHour),
                now: now)
        } catch {
            await auditor.refuse(
                .throttled, because: .throttledSource, request, client: client, detail: "registrations", now: now)
            throw error
        }
    }

    /// Counts a token that is not valid; throws ``ClientThrottle/TooMany`` after too many from one source.
    func noteForgery(_ request: IncomingRequest, now: Date) async throws {
        do {
            try forgeries.noteForgery(from: request.countedSource(settings.issuer), now: now)
        } catch {
            await auditor.refuse(
                .throttled, because: .throttledSource, request, detail: "registration tokens", now: now)
            throw error
        }
    }
}

@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import Logging

/// The parameter `audience` of a request that has no `resource`.
///
/// Some authorization servers name an API with it. This server ignores it, because the parameter of the standard is
/// `resource` (RFC 8707 §2). The developer of the client learns this from the log and from error descriptions.
struct AudienceParameter: Sendable {
    /// Finds the parameter; nil if the request has no `audience`, or has a `resource` too.
    init?(_ form: FormParameters) {
        guard form.all("audience").contains(where: { !$0.isEmpty }), form.all("resource").allSatisfy(\.isEmpty) else {
            return nil
        }
    }

    /// Returns an error of the request whose description and reason name the right parameter.
    func explaining(_ error: OAuthError) -> OAuthError {
        let hint = "audience is not a parameter of this server, send resource=URI instead (RFC 8707)"
        return OAuthError(
            error.code, error.description.map { "\($0); \(hint)" } ?? hint, reason: "\(error.reason); \(hint)")
    }
}

/// The log lines about clients that send `audience`: at most one an hour for each client.
struct AudienceParameterLog: Sendable {
    /// The number of clients remembered; if all were logged within the last hour, further clients are not logged.
    static let capacity = 10_000
    /// The minimum interval between two lines about one client, in seconds.
    static let silence: TimeInterval = 3600

    /// The times of the last lines, which all copies of the log share.
    private final class LastLines: Sendable {
        let times = Mutex<[ClientIdentifier: Date]>([:])
    }

    var logger: Logger
    private let lastLines = LastLines()

    init(logger: Logger) { self.logger = logger }

    /// Logs that a registered client sent the parameter, unless it was logged within the last hour.
    func note(_ parameter: AudienceParameter?, of client: ClientIdentifier, at endpoint: Endpoint, now: Date) {
        guard parameter != nil, isDue(client, now: now) else { return }
        logger.notice(
            "ignored the parameter audience, which this server calls resource (RFC 8707 §2)",
            metadata: ["client_id": "\(client)", "endpoint": "\(endpoint)"])
    }

    private func isDue(_ client: ClientIdentifier, now: Date) -> Bool {
        lastLines.times.withLock { lines in
            if let last = lines[client], now < last.addingTimeInterval(Self.silence) { return false }
            if lines.count >= Self.capacity { lines = lines.filter { now < $0.value.addingTimeInterval(Self.silence) } }
            guard lines.count < Self.capacity else { return false }
            lines[client] = now
            return true
        }
    }
}

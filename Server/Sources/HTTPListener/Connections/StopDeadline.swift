import NIOConcurrencyHelpers

/// The moment at which a server that stops closes its last connections, at all its listeners.
///
/// Listeners stop one after the other. Each of them would otherwise count its own time.
package final class StopDeadline: Sendable {
    private let moment = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    package init() {}

    /// Sets the moment, unless an earlier one is set.
    package func set(_ new: ContinuousClock.Instant) {
        moment.withLockedValue { moment in moment = moment.map { min($0, new) } ?? new }
    }

    /// Returns the moment, or the end of a time that begins now if that is earlier.
    package func end(within patience: Duration) -> ContinuousClock.Instant {
        let end = ContinuousClock.now + patience
        return moment.withLockedValue { moment in moment.map { min($0, end) } ?? end }
    }
}

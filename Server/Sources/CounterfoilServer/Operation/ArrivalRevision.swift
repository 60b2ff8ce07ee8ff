@_spi(Counterfoil) import CounterfoilProtocol

/// The revision of the registry that was read when a request arrived.
///
/// A change of the registry that was committed before the request arrived is always seen at this revision. The first
/// lookup of a request uses it. A later lookup reads the revision again, because the request may have changed the
/// registry or waited, unless it is a lookup by ``CachedRegistry/onArrival()``.
final class ArrivalRevision: Sendable {
    @TaskLocal private static var current: ArrivalRevision?

    private struct State {
        var revision: RegistryRevision?
        var isUsed = false
    }

    private let state: Mutex<State>

    private init(_ revision: RegistryRevision) { state = Mutex(State(revision: revision)) }

    /// Returns the revision if no lookup of the request has used it; nil afterwards, and outside of a request.
    static func forFirstLookup() -> RegistryRevision? { current?.use(again: false) }

    /// Returns the revision; nil outside of a request, and if it was not read.
    static func forAnyLookup() -> RegistryRevision? { current?.use(again: true) }

    /// Makes the next lookup of the request read the revision again, because the request waits for another host.
    static func forget() { current?.state.withLock { $0.revision = nil } }

    private func use(again: Bool) -> RegistryRevision? {
        state.withLock { state in
            defer { state.isUsed = true }
            return state.isUsed && !again ? nil : state.revision
        }
    }

    /// Runs the rest of a request that has read a revision, if it has.
    static func withValue<Value>(
        _ revision: RegistryRevision?, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let arrival = revision.map(ArrivalRevision.init)
        // A task that outlives the request reads the revision itself.
        defer { arrival?.state.withLock { $0.revision = nil } }
        return try await $current.withValue(arrival, operation: body)
    }
}

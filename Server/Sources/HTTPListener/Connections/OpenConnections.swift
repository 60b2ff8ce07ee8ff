import IPAddresses
package import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A registry of open connections that enforces the limits.
///
/// It evicts idle connections to make room.
///
/// Opening or closing a connection takes the lock for a constant time. A request does not take this lock: it writes an
/// atomic value of its connection, and reads the trusted proxies.
package final class OpenConnections: Sendable {
    /// The maximum numbers of open connections, in total and from one source.
    package var limits: ConnectionLimits { state.withLockedValue { $0.limits } }

    /// The proxies whose forwarding fields name the client address.
    package var trustedProxies: TrustedProxies { proxies.withLockedValue { $0 } }

    let budget: BodyBudget
    let pauses: PauseWatch
    private let trustsLoopback: Bool
    private let logger: Logger
    private let state: NIOLockedValueBox<State>
    /// The trusted proxies have a lock of their own, because each request reads them.
    private let proxies: NIOLockedValueBox<TrustedProxies>

    /// The time in nanoseconds since the start of a request after which a connection can be evicted although the body
    /// is still arriving.
    private static let readingGrace: UInt64 = 2_000_000_000
    /// The maximum number of connections that are examined to find one to evict.
    private static let looks = 64

    /// The reason why a connection was refused, with the label value of the metric as raw value.
    package enum Refusal: String, CaseIterable, Sendable {
        /// The limit of all connections is reached, and none can be evicted.
        case total
        /// The limit of the source is reached.
        case source
        /// The process has no descriptor left.
        case descriptors
    }

    package struct Snapshot: Sendable {
        package fileprivate(set) var open = 0
        package fileprivate(set) var refused: [Refusal: Int] = [:]
        package fileprivate(set) var evicted = 0
        package fileprivate(set) var bodyBytes = 0
        package fileprivate(set) var refusedBodies = 0
    }

    private struct Source {
        var count = 0
        let address: IPAddress?
        let share: BodyBudget.Share
        var isLimited: Bool
    }

    /// Creates an empty registry.
    ///
    /// - Parameters:
    ///   - limits: The limits of connections.
    ///   - trustedProxies: The proxies to which the limits per source do not apply, because they forward the requests
    ///     of many clients.
    ///   - trustsLoopback: Whether a loopback address counts as a trusted proxy.
    ///   - logger: The logger for refused connections.
    package convenience init(
        limits: ConnectionLimits, trustedProxies: TrustedProxies, trustsLoopback: Bool, logger: Logger
    ) {
        self.init(
            limits: limits, budget: BodyBudget(), trustedProxies: trustedProxies, trustsLoopback: trustsLoopback,
            logger: logger)
    }

    init(
        limits: ConnectionLimits, budget: BodyBudget, trustedProxies: TrustedProxies, trustsLoopback: Bool,
        logger: Logger
    ) {
        self.budget = budget
        pauses = PauseWatch(logger: logger)
        self.trustsLoopback = trustsLoopback
        self.logger = logger
        state = NIOLockedValueBox(State(limits: limits))
        proxies = NIOLockedValueBox(trustedProxies)
    }

    /// Replaces the limits and the trusted proxies for the next connections and requests.
    ///
    /// Open connections stay, also those above a lower limit. A source that is a trusted proxy from now on has no limit
    /// of its own, and one that no longer is gets it.
    package func change(limits: ConnectionLimits, trustedProxies: TrustedProxies) {
        // A source that is added between the two steps has the new proxies already.
        proxies.withLockedValue { $0 = trustedProxies }
        state.withLockedValue { state in
            state.limits = limits
            for (sourceName, source) in state.sources {
                let isLimited = !isProxy(source.address)
                source.share.limit(isLimited)
                state.sources[sourceName]?.isLimited = isLimited
            }
        }
    }

    /// The counts for the metrics.
    package var snapshot: Snapshot {
        var snapshot = state.withLockedValue { state in
            Snapshot(open: state.open, refused: state.refused, evicted: state.evicted)
        }
        snapshot.bodyBytes = budget.usedBytes
        snapshot.refusedBodies = budget.refusedBodies
        return snapshot
    }

    /// Returns whether a source has reached its limit.
    ///
    /// If the result is true, the connection is counted as refused.
    func refusesMore(from address: IPAddress?) -> Bool {
        let sourceName = address?.source ?? "unknown"
        let isFull = state.withLockedValue { state in
            guard let source = state.sources[sourceName] else { return false }
            return source.isLimited && source.count >= state.limits.perSource
        }
        if isFull { noteRefusal(.source, of: sourceName) }
        return isFull
    }

    /// Admits and counts an accepted connection, and evicts another one if room is needed.
    ///
    /// - Returns: The admitted connection; nil if the connection exceeds a limit and must be closed.
    func admit(_ closable: any ClosableConnection, from address: IPAddress?) -> OpenConnection? {
        let sourceName = address?.source ?? "unknown"
        var evicted: OpenConnection?
        let admitted: Result<OpenConnection, Refused> = state.withLockedValue { state in
            let source = state.sources[sourceName] ?? makeSource(address)
            if source.isLimited, source.count >= state.limits.perSource { return .failure(Refused(reason: .source)) }
            if state.open - state.leaving >= state.limits.total {
                evicted = state.leaving < ConnectionLimits.closingAllowance ? state.takeVictim() : nil
                guard evicted != nil else { return .failure(Refused(reason: .total)) }
            }
            return .success(state.add(closable, from: sourceName, source, budget, pauses))
        }
        evicted?.evict()
        switch admitted {
        case .success(let connection): return connection
        case .failure(let refused):
            noteRefusal(refused.reason, of: sourceName)
            return nil
        }
    }

    /// Stops counting a connection that has been closed.
    func remove(_ connection: OpenConnection) {
        let waiting = state.withLockedValue { state in
            state.remove(connection)
            guard state.open == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    /// Lets each connection close after its next response from now on, new ones too.
    package func beginDraining() {
        let connections = state.withLockedValue { state in
            state.isDraining = true
            return state.lines.connections
        }
        for connection in connections { connection.closeAfterResponse() }
    }

    /// Closes the connections that wait for a request; see ``OpenConnection/endIdle()``.
    func endIdle() {
        for connection in state.withLockedValue({ $0.lines.connections }) { connection.endIdle() }
    }

    var isEmpty: Bool { state.withLockedValue { $0.open == 0 } }

    /// Waits until no connection is open.
    func allClosed() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLockedValue { state in
                if state.open > 0 { state.waiting.append(continuation) }
                return state.open == 0
            }
            if isEmpty { continuation.resume() }
        }
    }

    func closeAll() {
        for connection in state.withLockedValue({ $0.lines.connections }) { connection.closable.close { false } }
    }

    /// Counts a socket that was accepted, whether or not its connection is admitted.
    func openedSocket() { state.withLockedValue { $0.sockets += 1 } }

    /// Ends the count of a socket, and lets a listener that waits for room accept again.
    func closedSocket() {
        let waiting = state.withLockedValue { state -> [@Sendable () -> Void] in
            state.sockets -= 1
            guard state.hasRoomForSocket, !state.listeners.isEmpty else { return [] }
            defer { state.listeners = [] }
            return state.listeners
        }
        for one in waiting { one() }
    }

    /// Returns whether another socket may be accepted; if not, a function is called once when it may.
    func hasRoomForSocket(orLater later: @escaping @Sendable () -> Void) -> Bool {
        state.withLockedValue { state in
            if !state.hasRoomForSocket { state.listeners.append(later) }
            return state.hasRoomForSocket
        }
    }

    /// Counts a refused connection, and logs the number of refusals at most once in ten seconds.
    func noteRefusal(_ reason: Refusal, of sourceName: String? = nil) {
        let now = NIODeadline.now()
        let told = state.withLockedValue { state -> (count: Int, open: Int)? in
            state.refused[reason, default: 0] += 1
            state.unloggedRefusals += 1
            if let last = state.lastLogged, now < last + .seconds(10) { return nil }
            defer { state.unloggedRefusals = 0 }
            state.lastLogged = now
            return (state.unloggedRefusals, state.open)
        }
        guard let told else { return }
        logger.warning(
            "refused connections",
            metadata: [
                "count": "\(told.count)", "reason": "\(reason.rawValue)", "open": "\(told.open)",
                "source": "\(sourceName ?? "unknown")",
            ])
    }

    private struct Refused: Error {
        let reason: Refusal
    }

    private func makeSource(_ address: IPAddress?) -> Source {
        let isLimited = !isProxy(address)
        return Source(address: address, share: BodyBudget.Share(isLimited: isLimited), isLimited: isLimited)
    }

    private func isProxy(_ address: IPAddress?) -> Bool {
        let trustedProxies = trustedProxies
        // Only a proxy on this machine can reach a Unix socket.
        return address.map { trustedProxies.trusts($0) || trustsLoopback && $0.isLoopback || $0 == .unixSocket }
            ?? false
    }
}

extension OpenConnections {
    private struct State {
        var limits: ConnectionLimits
        var sources: [String: Source] = [:]
        var lines = ConnectionQueues()
        var open = 0
        /// The number of evicted connections that are not closed yet.
        var leaving = 0
        var evicted = 0
        var refused: [Refusal: Int] = [:]
        var unloggedRefusals = 0
        var lastLogged: NIODeadline?
        var isDraining = false
        /// The number of open sockets at all listeners, those of refused and evicted connections included.
        var sockets = 0
        /// The listeners that wait for room.
        var listeners: [@Sendable () -> Void] = []
        /// Those who wait until no connection is open.
        var waiting: [CheckedContinuation<Void, Never>] = []

        var hasRoomForSocket: Bool { sockets < limits.total + ConnectionLimits.closingAllowance }

        mutating func add(
            _ closable: any ClosableConnection, from sourceName: String, _ source: Source, _ budget: BodyBudget,
            _ pauses: PauseWatch
        ) -> OpenConnection {
            var source = source
            source.count += 1
            sources[sourceName] = source
            open += 1
            let connection = lines.add { slot in
                OpenConnection(
                    closable, from: sourceName, share: source.share, slot: slot, budget: budget, pauses: pauses)
            }
            if isDraining { connection.closeAfterResponse() }
            return connection
        }

        mutating func remove(_ connection: OpenConnection) {
            open -= 1
            if lines.remove(connection.slot) == .gone { leaving -= 1 }
            guard var source = sources[connection.sourceName] else { return }
            source.count -= 1
            sources[connection.sourceName] = source.count > 0 ? source : nil
        }

        /// Removes and returns a connection to evict, a silent one first; nil if there is none.
        mutating func takeVictim() -> OpenConnection? {
            let victim = lines.takeSilent() ?? lines.takeIdle(looks: looks, readingGrace: readingGrace)
            guard let victim else { return nil }
            leaving += 1
            evicted += 1
            return victim
        }
    }
}

import CounterfoilPlatform

/// The loop of the thread that serves the sockets of a receiver, until ``ConnectionServer`` ends it.
///
/// Browsers open connections in advance and leave them idle. If more than ``limit`` connections are open, the oldest
/// is closed, so that no client can exhaust the file descriptors of the process.
struct ConnectionLoop {
    static let limit = 100
    /// The pause of a listening socket whose connections the system cannot accept for lack of descriptors.
    private static let exhaustedPause = Duration.milliseconds(50)

    private var listeners: [Int32]
    private let responder: any ConnectionResponder
    private let control: ConnectionServer.Control
    /// The open connections, the oldest first.
    private var connections: [OpenConnection] = []
    private var drainEnd: ContinuousClock.Instant?
    private var isExhausted = false

    init(_ listeners: [Int32], _ responder: any ConnectionResponder, _ control: ConnectionServer.Control) {
        self.listeners = listeners
        self.responder = responder
        self.control = control
    }

    mutating func run() {
        while true {
            if let ending = control.ending, drainEnd == nil { stopListening(draining: ending) }
            if let drainEnd, connections.isEmpty || drainEnd <= .now { break }
            let ready = wait()
            for (index, isReady) in ready.connections.enumerated() where isReady {
                connections[index].proceed(responder)
            }
            let now = ContinuousClock.now
            for index in connections.indices where connections[index].deadline <= now { connections[index].close() }
            connections.removeAll(where: \.isClosed)
            isExhausted = false
            for listener in ready.listeners { accept(from: listener) }
        }
        for index in connections.indices { connections[index].close() }
        control.finish()
    }

    /// Waits for an event; returns for each connection whether it has one, and the listening sockets that have one.
    private func wait() -> (connections: [Bool], listeners: [Int32]) {
        var sources = connections.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
        let listening = isExhausted ? [] : listeners
        // `poll` ignores a negative descriptor. The socket stays readable after the end has begun.
        let waking = drainEnd == nil ? control.wakingEnd : -1
        sources += ([waking] + listening).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let next = (connections.map(\.deadline) + [drainEnd].compactMap(\.self)).min().map { $0 - .now }
        let pause = [next, isExhausted ? Self.exhaustedPause : nil].compactMap(\.self).min()
        // Round up, so that the deadline has passed after the pause.
        let milliseconds = pause.map { Int32(min(max(0, ($0 / .milliseconds(1)).rounded(.up)), 60_000)) } ?? -1
        guard poll(&sources, nfds_t(sources.count), milliseconds) > 0 else {
            return (connections.map { _ in false }, [])
        }
        let ready = sources.map { $0.revents != 0 }
        let first = connections.count + 1
        return (
            Array(ready.prefix(connections.count)),
            zip(listening, ready.dropFirst(first)).filter(\.1).map(\.0)
        )
    }

    /// Accepts the connections that are waiting, at most as many as two full backlogs.
    private mutating func accept(from listener: Int32) {
        for _ in 0..<2 * Socket.backlog {
            do throws(SystemCallError) {
                let descriptor = try Socket.accept(listener)
                connections.append(OpenConnection(descriptor, deadline: .now + responder.timeLimit))
                if connections.count > Self.limit { closeOldest() }
            } catch {
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.code) {
                    closeOldest()
                    isExhausted = true
                    return
                }
                // The peer has already closed this connection; the next one may be open.
                guard [ECONNABORTED, EINTR].contains(error.code) else { return }
            }
        }
    }

    private mutating func closeOldest() {
        guard !connections.isEmpty else { return }
        connections[0].close()
        connections.removeFirst()
    }

    /// Closes the listening sockets, and tells every connection without a response that the wait has ended.
    ///
    /// Connections that the system has completed are accepted first, so that they receive the page too.
    private mutating func stopListening(draining time: Duration) {
        let isDraining = time > .zero
        if isDraining {
            for listener in listeners { accept(from: listener) }
        }
        for listener in listeners { _ = close(listener) }
        listeners = []
        drainEnd = .now + time
        guard isDraining else { return }
        for index in connections.indices {
            connections[index].proceed(responder)
            connections[index].send(responder.responseAtEnd)
        }
        connections.removeAll(where: \.isClosed)
    }
}

import NIOCore

/// The two eviction queues of open connections: `silent` for connections without any request yet, and `heard` for
/// connections that have sent a request.
///
/// Connections are evicted from the front. A queue is not updated when a connection becomes busy or idle, but only
/// when a connection must be evicted:
///
/// - A connection in `silent` that has sent a request moves to `heard`.
/// - A connection in `heard` that was used since it was queued moves to the end.
///
/// Each step takes constant time.
struct ConnectionQueues {
    /// The queue that contains a connection.
    enum Queue {
        case silent
        case heard
        /// In no queue, because the connection was evicted.
        case gone
    }

    private struct Slot {
        var connection: OpenConnection?
        var line = Queue.gone
        var previous: Int?
        var next: Int?
        /// The start of the connection's phase when the connection was last examined, as uptime in nanoseconds.
        ///
        /// If the start has changed since then, the connection was used.
        var stamp: UInt64 = 0
    }

    private struct Ends {
        var first: Int?
        var last: Int?
    }

    private var slots: [Slot] = []
    private var free: [Int] = []
    private var silent = Ends()
    private var heard = Ends()

    /// All connections that are not closed.
    var connections: [OpenConnection] { slots.compactMap(\.connection) }

    /// Adds a connection at the end of the silent queue.
    mutating func add(_ make: (_ slot: Int) -> OpenConnection) -> OpenConnection {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        let connection = make(slot)
        slots[slot] = Slot(connection: connection)
        append(slot, to: .silent)
        return connection
    }

    /// Removes a closed connection.
    ///
    /// - Returns: The queue in which the connection was; `gone` if it was evicted before.
    mutating func remove(_ slot: Int) -> Queue {
        let line = slots[slot].line
        unlink(slot)
        slots[slot] = Slot()
        free.append(slot)
        return line
    }

    /// Removes and returns the connection that has been silent for longest; nil if there is none.
    mutating func takeSilent() -> OpenConnection? {
        while let slot = silent.first, let connection = slots[slot].connection {
            unlink(slot)
            let (phase, since) = connection.current
            if phase == .silent { return connection }
            slots[slot].stamp = since
            append(slot, to: .heard)
        }
        return nil
    }

    /// Removes and returns a connection of the queue `heard` that can be evicted; nil if none is found.
    ///
    /// - Parameters:
    ///   - looks: The maximum number of connections to examine.
    ///   - readingGrace: The time in nanoseconds since the start of a request after which a connection can be evicted
    ///     although the body is still arriving.
    ///   - now: The current uptime in nanoseconds.
    mutating func takeIdle(
        looks: Int, readingGrace: UInt64, now: UInt64 = NIODeadline.now().uptimeNanoseconds
    ) -> OpenConnection? {
        for _ in 0..<looks {
            guard let slot = heard.first, let connection = slots[slot].connection else { return nil }
            unlink(slot)
            let (phase, since) = connection.current
            switch phase {
            case .idle, .silent: if since <= slots[slot].stamp { return connection }
            case .reading: if since + readingGrace < now { return connection }
            case .answering: break
            }
            slots[slot].stamp = since
            append(slot, to: .heard)
        }
        return nil
    }

    private subscript(line: Queue) -> Ends {
        get { line == .silent ? silent : heard }
        set { if line == .silent { silent = newValue } else { heard = newValue } }
    }

    private mutating func append(_ slot: Int, to line: Queue) {
        let last = self[line].last
        slots[slot].line = line
        slots[slot].previous = last
        slots[slot].next = nil
        if let last { slots[last].next = slot } else { self[line].first = slot }
        self[line].last = slot
    }

    private mutating func unlink(_ slot: Int) {
        let (line, previous, next) = (slots[slot].line, slots[slot].previous, slots[slot].next)
        guard line != .gone else { return }
        if let previous { slots[previous].next = next } else { self[line].first = next }
        if let next { slots[next].previous = previous } else { self[line].last = previous }
        slots[slot].line = .gone
        slots[slot].previous = nil
        slots[slot].next = nil
    }
}

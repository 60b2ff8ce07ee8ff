import NIOCore

/// Two lines of open connections: those from which no request has come, and the others; the first of a line is evicted first.
///
/// Connections are not moved when they become busy or idle. That is found out when room is needed: one that has spoken goes from the
/// first line to the second one, and one that was used since it was placed goes to the end. Each step takes constant time.
struct ConnectionLines {
    /// The line in which a connection stands.
    enum Line {
        case silent
        case heard
        /// It was evicted.
        case gone
    }

    private struct Slot {
        var connection: OpenConnection?
        var line = Line.gone
        var previous: Int?
        var next: Int?
        /// When the connection was last seen to be used, as uptime in nanoseconds.
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

    /// Every connection that is not closed.
    var connections: [OpenConnection] { slots.compactMap(\.connection) }

    /// Adds a connection at the end of the silent ones.
    mutating func add(_ make: (_ slot: Int) -> OpenConnection) -> OpenConnection {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        let connection = make(slot)
        slots[slot] = Slot(connection: connection)
        append(slot, to: .silent)
        return connection
    }

    /// Removes a connection that is closed; the line in which it stood.
    mutating func remove(_ slot: Int) -> Line {
        let line = slots[slot].line
        unlink(slot)
        slots[slot] = Slot()
        free.append(slot)
        return line
    }

    /// The connection that has been silent for longest; nil when there is none.
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

    /// A connection that has not been used for long, or on which the body of a request has been arriving for long.
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

    private subscript(line: Line) -> Ends {
        get { line == .silent ? silent : heard }
        set { if line == .silent { silent = newValue } else { heard = newValue } }
    }

    private mutating func append(_ slot: Int, to line: Line) {
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

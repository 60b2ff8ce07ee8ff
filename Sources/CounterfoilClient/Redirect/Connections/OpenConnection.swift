import CounterfoilPlatform

/// One connection to a receiver: it receives a request, sends the response, and waits for the peer to close.
struct OpenConnection {
    /// The maximum time for the peer to close the connection after the response.
    static let lingerTime = Duration.seconds(2)

    private enum Phase {
        case receiving
        case sending(ArraySlice<UInt8>, ConnectionResponse)
        /// The response was sent, and only the output is closed.
        ///
        /// If unread input remained at the close, the system would reset the connection, and the page could be lost.
        case lingering
        case closed
    }

    let descriptor: Int32
    private(set) var deadline: ContinuousClock.Instant
    private var phase = Phase.receiving
    private var received: [UInt8] = []

    init(_ descriptor: Int32, deadline: ContinuousClock.Instant) {
        self.descriptor = descriptor
        self.deadline = deadline
    }

    var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// The events of `poll` for which the connection waits.
    var events: Int16 { if case .sending = phase { Int16(POLLOUT) } else { Int16(POLLIN) } }

    /// Continues after `poll` has reported an event.
    mutating func proceed(_ responder: some ConnectionResponder) {
        switch phase {
        case .receiving:
            guard let more = input() else { return }
            let known = received.count
            received += more
            if let response = responder.response(to: received, known: known, on: descriptor) { send(response) }
        case .sending(let rest, let response): send(rest, of: response)
        case .lingering: _ = input()
        case .closed: break
        }
    }

    /// Sends a response, unless there was one before.
    mutating func send(_ response: ConnectionResponse) {
        guard case .receiving = phase else { return }
        received = []
        send(response.bytes[...], of: response)
    }

    /// Closes the connection in any phase.
    mutating func close() {
        if case .closed = phase { return }
        let former = phase
        phase = .closed
        systemClose(descriptor)
        if case .sending(_, let response) = former { response.afterwards() }
    }

    /// Reads what has arrived; nil if nothing has, or if the connection is at its end and was therefore closed.
    private mutating func input() -> [UInt8]? {
        do throws(SystemCallError) {
            let bytes = try Socket.receive(from: descriptor)
            if bytes.isEmpty { close() }
            return bytes.isEmpty ? nil : bytes
        } catch {
            if !error.isTemporary { close() }
            return nil
        }
    }

    private mutating func send(_ bytes: ArraySlice<UInt8>, of response: ConnectionResponse) {
        var rest = bytes
        phase = .sending(rest, response)
        while !rest.isEmpty {
            do throws(SystemCallError) {
                rest = rest.dropFirst(try Socket.send(rest, to: descriptor))
            } catch {
                phase = .sending(rest, response)
                if !error.isTemporary { close() }
                return
            }
        }
        guard !response.bytes.isEmpty else { return close() }
        Socket.closeOutput(of: descriptor)
        phase = .lingering
        deadline = min(deadline, .now + Self.lingerTime)
        response.afterwards()
    }
}

extension SystemCallError {
    /// Whether the same call can succeed later.
    var isTemporary: Bool { [EAGAIN, EWOULDBLOCK, EINTR].contains(code) }
}

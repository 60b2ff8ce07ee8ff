/// The place of one request in the limits of its HTTP/2 connection.
///
/// It is used on the event loop of the connection only.
final class StreamSlot {
    private enum State {
        case outside
        case arriving(StreamCounts.Part)
        case waiting(StreamCounts.Part, answer: () -> Void)
        case answering(StreamCounts.Part)
        case over
    }

    private let connection: StreamedConnectionHandler
    private var state = State.outside
    /// The size of the response that the client has not taken yet.
    private var unsent = 0
    /// Whether a large body waits for admission.
    private var checksAdmission = false
    /// Whether a body follows the head, whose length the head does not state.
    private(set) var hasOpenBody = false

    init(in connection: StreamedConnectionHandler) { self.connection = connection }

    /// The number of bytes of the body that do not count against `BodyBudget`.
    var freeBytes: Int {
        guard case .arriving(let part) = state, part.hasFreeBody else { return 0 }
        return BodyBudget.freeBytes
    }

    /// Counts the request; returns false if the connection has too many.
    func admit(headBytes: Int, hasOpenBody: Bool) -> Bool {
        guard let part = connection.admit(headBytes: headBytes) else { return false }
        self.hasOpenBody = hasOpenBody
        state = .arriving(part)
        return true
    }

    /// Counts a large body that waits for admission; returns false if the connection has too many.
    func beginAdmissionCheck() -> Bool {
        checksAdmission = connection.beginAdmissionCheck()
        return checksAdmission
    }

    /// Ends the count of the body, if it waits.
    func endAdmissionCheck() {
        guard checksAdmission else { return }
        checksAdmission = false
        connection.endAdmissionCheck()
    }

    /// Calls a function when the request may be answered, which can be at once.
    func whenItsTurn(_ answer: @escaping () -> Void) {
        guard case .arriving(let part) = state else { return }
        state = .waiting(part, answer: answer)
        connection.enqueue(self)
    }

    /// Begins the answer, if the request waits for its turn.
    func begin() {
        guard case .waiting(let part, let answer) = state else { return }
        state = .answering(part)
        connection.noteAnswer()
        answer()
    }

    /// Whether the request waits for its turn.
    var isWaiting: Bool {
        if case .waiting = state { true } else { false }
    }

    /// Ends the request, because it is answered or its stream is closed.
    func leave() {
        endAdmissionCheck()
        let former = state
        state = .over
        switch former {
        case .outside, .over: break
        case .arriving(let part): connection.remove(part, wasAnswering: false)
        case .waiting(let part, _):
            connection.dequeue(self)
            connection.remove(part, wasAnswering: false)
        case .answering(let part): connection.remove(part, wasAnswering: true)
        }
    }

    /// Notes that the response is written.
    func answered() { connection.answered() }

    /// Notes that the request is refused without a response.
    func refused() { connection.countControlFrame() }

    /// Counts bytes of the response.
    func wrote(_ bytes: Int) {
        unsent += bytes
        connection.addUnsent(bytes)
    }

    /// Ends the count of the response.
    func sent() {
        connection.addUnsent(-unsent)
        unsent = 0
    }
}

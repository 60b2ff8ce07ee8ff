import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The listening sockets of a receiver and the connections to them, served by a thread of their own.
///
/// The sockets are closed by ``close(draining:)``, or when the server is deallocated.
final class ConnectionServer: Sendable {
    private let control: Control

    /// Serves listening sockets that do not block; closes them if it throws an error.
    init(_ listeners: [Int32], responder: any ConnectionResponder) throws(SystemCallError) {
        do throws(SystemCallError) {
            let control = try Control()
            self.control = control
            let isStarted = DetachedThread.start {
                var loop = ConnectionLoop(listeners, responder, control)
                loop.run()
            }
            guard isStarted else {
                control.finish()
                throw SystemCallError(code: EAGAIN)
            }
        } catch {
            for listener in listeners { systemClose(listener) }
            throw error
        }
    }

    deinit { control.end(draining: .zero, waiter: nil) }

    /// Closes the listening sockets and all connections; returns when they are closed.
    ///
    /// If `time` is not zero, connections without a response receive ``ConnectionResponder/responseAtEnd``, and have
    /// this time to read it. The function ignores cancellation of the task, because a cancelled sign-in also has to
    /// close its port.
    func close(draining time: Duration) async {
        await withCheckedContinuation { control.end(draining: time, waiter: $0) }
    }

    /// The state that the server shares with its thread.
    final class Control: Sendable {
        /// The end of a pair of sockets that becomes readable when the thread has to look at ``ending``.
        let wakingEnd: Int32
        private let state: Mutex<State>

        private struct State {
            /// The other end of the pair; -1 after the thread has ended.
            var signal: Int32
            var ending: Duration?
            var waiters: [CheckedContinuation<Void, Never>] = []
        }

        init() throws(SystemCallError) {
            let ends = try Socket.makePair()
            wakingEnd = ends.0
            state = Mutex(State(signal: ends.1))
        }

        /// The time for draining the connections once the server is to be closed; nil before.
        var ending: Duration? { state.withLock(\.ending) }

        /// Makes the thread close the sockets, and resumes `waiter` when it has.
        func end(draining time: Duration, waiter: CheckedContinuation<Void, Never>?) {
            let isEnded = state.withLock { state in
                guard state.signal >= 0 else { return true }
                if let waiter { state.waiters.append(waiter) }
                if state.ending == nil {
                    state.ending = time
                    // The thread does not read the byte: the socket stays readable until the thread ends.
                    _ = try? Socket.send([0], to: state.signal)
                }
                return false
            }
            if isEnded { waiter?.resume() }
        }

        /// Resumes all waiting tasks; the thread calls it after it has closed the sockets.
        func finish() {
            let waiters = state.withLock { state in
                systemClose(state.signal)
                state.signal = -1
                defer { state.waiters = [] }
                return state.waiters
            }
            systemClose(wakingEnd)
            for waiter in waiters { waiter.resume() }
        }
    }
}

@_spi(Counterfoil) import CounterfoilProtocol

/// The chunks of a response body between the connection that receives them and the task that reads them.
///
/// The connection waits while the reader has many bytes left to read.
final class BodyChannel: Sendable {
    private struct State {
        var chunks: [[UInt8]] = []
        var byteCount = 0
        var end: End?
        var reader: CheckedContinuation<Void, Never>?
        var writer: CheckedContinuation<Void, Never>?
        var isReading = false
        /// Closes the connection; nil if the body has ended.
        var close: (@Sendable () -> Void)?
        /// Continues a connection that ``BodyChannel/offer(_:resume:)`` has asked to pause; nil if none has.
        var resume: (@Sendable () -> Void)?
    }

    private enum End {
        case complete
        case failed(TransportFailure)
    }

    /// The number of bytes from which the connection waits for the reader.
    private static let highWater = 256 * 1024

    /// The origin of the server, for errors.
    let origin: String
    private let idleTimeout: Duration
    private let state = Mutex(State())

    /// Creates a channel; a reader that waits longer than `idleTimeout` for a chunk fails.
    init(from origin: String, idleTimeout: Duration) {
        self.origin = origin
        self.idleTimeout = idleTimeout
    }

    /// Sets the function that closes the connection; it is called at once if the reader has already stopped.
    func onAbandon(_ close: @escaping @Sendable () -> Void) {
        let isAbandoned = state.withLock { state in
            guard state.end == nil else { return true }
            state.close = close
            return false
        }
        if isAbandoned { close() }
    }

    // MARK: - Writing

    /// Adds a chunk, and returns when there is room for another one; returns false if the reader has stopped.
    func write(_ chunk: [UInt8]) async -> Bool {
        guard !offer(chunk, resume: {}) else { return true }
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                guard state.end == nil, state.byteCount >= Self.highWater else { return true }
                state.writer = continuation
                return false
            }
            if isDone { continuation.resume() }
        }
        return state.withLock { $0.end == nil }
    }

    /// Adds a chunk; returns false if the connection must pause, until `resume` is called.
    func offer(_ chunk: [UInt8], resume: @escaping @Sendable () -> Void) -> Bool {
        let (hasRoom, reader) = state.withLock { state in
            guard state.end == nil else { return (false, state.reader) }
            if !chunk.isEmpty { state.chunks.append(chunk) }
            state.byteCount += chunk.count
            let hasRoom = state.byteCount < Self.highWater
            state.resume = hasRoom ? nil : resume
            defer { state.reader = nil }
            return (hasRoom, state.reader)
        }
        reader?.resume()
        return hasRoom
    }

    /// Ends the body, after the chunks that were added.
    func finish() { end(.complete) }

    /// Ends the body with an error, after the chunks that were added.
    func fail(_ failure: TransportFailure) { end(.failed(failure)) }

    private func end(_ end: End, discardingChunks: Bool = false) {
        let former = state.withLock { state in
            let former = state
            if discardingChunks { (state.chunks, state.byteCount) = ([], 0) }
            guard state.end == nil else { return State() }
            state.end = end
            (state.close, state.reader, state.writer, state.resume) = (nil, nil, nil, nil)
            return former
        }
        if discardingChunks { former.close?() }
        former.reader?.resume()
        former.writer?.resume()
    }

    // MARK: - Reading

    /// Returns the next chunk; nil after the last one.
    ///
    /// Throws ``TransportFailure/cancelled`` if the task is cancelled, or if another task is reading.
    func next() async throws(TransportFailure) -> [UInt8]? {
        let isFirst = state.withLock { state in
            defer { state.isReading = true }
            return !state.isReading
        }
        guard isFirst else { throw .cancelled }
        defer { state.withLock { $0.isReading = false } }
        while true {
            let (chunk, former) = state.withLock { state in
                let former = state
                guard !state.chunks.isEmpty else { return ([UInt8]?.none, former) }
                let chunk = state.chunks.removeFirst()
                state.byteCount -= chunk.count
                if state.byteCount < Self.highWater { (state.writer, state.resume) = (nil, nil) }
                return (chunk, former)
            }
            if let chunk {
                guard former.byteCount - chunk.count < Self.highWater else { return chunk }
                former.writer?.resume()
                former.resume?()
                return chunk
            }
            switch former.end {
            case .complete: return nil
            case .failed(let failure): throw failure
            case nil: await wait()
            }
        }
    }

    /// Waits until a chunk arrives or the body ends.
    private func wait() async {
        let watch = Task { [idleTimeout, origin] in
            guard (try? await Task.sleep(for: idleTimeout)) != nil else { return }
            end(.failed(.timedOut(origin: origin)), discardingChunks: true)
        }
        defer { watch.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.chunks.isEmpty, state.end == nil else { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            abandon()
        }
    }

    /// Closes the connection and ends the body.
    func abandon() { end(.failed(.cancelled), discardingChunks: true) }
}

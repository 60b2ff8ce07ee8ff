@_spi(Counterfoil) import CounterfoilProtocol
import Logging

/// The log of the export of spans: at most one line in a minute, and a counter of the spans that were dropped.
final class TraceExportLog: Sendable {
    private struct State {
        var dropped = 0
        var unreported = 0
        var reason = ""
        var reported: ContinuousClock.Instant?
    }

    private static let pause = Duration.seconds(60)
    private static let reasonLimit = 200

    private let target: Logger
    private let state = Mutex(State())

    init(_ target: Logger) { self.target = target }

    /// The number of spans that the collector did not get.
    var droppedSpans: Int { state.withLock { $0.dropped } }

    /// The logger for the library.
    var logger: Logger { Logger(label: "counterfoil.traces") { _ in Handler(log: self) } }

    /// Counts spans that were dropped, and logs it unless a line was logged within a minute.
    func note(dropped count: Int, because reason: String, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.dropped += count
            state.unreported += count
            state.reason = reason
            guard state.reported.map({ now - $0 >= Self.pause }) ?? true else { return }
            write(&state, at: now)
        }
    }

    /// Logs what was not logged yet.
    func report() {
        state.withLock { state in if state.unreported > 0 { write(&state, at: .now) } }
    }

    private func write(_ state: inout State, at now: ContinuousClock.Instant) {
        target.error(
            "failed to send spans to the collector",
            metadata: ["dropped": "\(state.unreported)", "error": "\(state.reason)"])
        state.unreported = 0
        state.reported = now
    }

    /// Counts what the library reports; nothing of its texts is logged but the error.
    private struct Handler: LogHandler {
        let log: TraceExportLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard event.level >= .warning else { return }
            let metadata = metadata.merging(event.metadata ?? [:]) { _, latest in latest }
            func number(_ key: String) -> Int? { metadata[key].flatMap { Int("\($0)") } }
            if let dropped = number("dropped_count") {
                log.note(dropped: dropped, because: "the queue is full")
            } else if let rejected = number("rejected_spans") {
                if rejected > 0 { log.note(dropped: rejected, because: "the collector rejected spans") }
            } else {
                log.note(dropped: number("batch_size") ?? 0, because: Self.text(of: event.error))
            }
        }

        private static func text(of error: (any Error)?) -> String {
            guard let error else { return "unknown" }
            // An error can contain a text of the collector.
            let visible = "\(error)".unicodeScalars.filter { (0x20...0x7E).contains($0.value) }
            return String(String.UnicodeScalarView(visible.prefix(TraceExportLog.reasonLimit)))
        }
    }
}

@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Logging

/// A value that tasks share, and that can be replaced.
final class SharedValue<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }

    /// Changes the value in one step.
    func change(_ body: (inout Value) -> Void) { state.withLock { body(&$0) } }
}

/// The log level of a running server, which a reload of the settings can change.
typealias CurrentLogLevel = SharedValue<Logger.Level>

/// A log handler whose level is that of the running server, unless the logger has a level of its own.
struct CurrentLevelHandler: LogHandler {
    private var handler: any LogHandler
    private let level: CurrentLogLevel
    private var ownLevel: Logger.Level?

    init(_ handler: any LogHandler, level: CurrentLogLevel) {
        self.handler = handler
        self.level = level
        // The level is judged here.
        self.handler.logLevel = .trace
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? level.value }
        set { ownLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { handler.log(event: event) }
}

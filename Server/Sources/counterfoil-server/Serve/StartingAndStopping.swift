import CounterfoilServer
import CounterfoilWeb
import Foundation
import HTTPListener
import Logging
import ServiceLifecycle
import UnixSignals

/// The service that opens the store when the server listens, and again and again while the database does not answer.
struct StartupService: Service {
    let deferred: DeferredServer
    let bound: LaterValue<[BoundAddress]>
    let opened: LaterValue<OpenedServer>
    let connections: OpenConnections
    let manager: ServiceManager
    let tracing: RequestTracing?
    let logger: Logger
    let open: @Sendable () async throws -> OpenedServer
    /// Stores the settings of the server, which listens, for administration commands.
    let note: @Sendable (OpenedServer) async throws -> Void
    let onStarted: @Sendable (OpenedServer, [BoundAddress]) async -> Void

    private static let firstPause = Duration.milliseconds(500)
    private static let longestPause = Duration.seconds(10)

    /// Returns when the server is open; throws ``CommandFailure`` after an error that does not pass by itself.
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            guard let addresses = await bound.wait(), let server = try await server() else { return }
            if !deferred.isOpen {
                try deferred.open(server.server, logger: logger, tracing: tracing) { connections.trustedProxies }
            }
            opened.set(server)
            manager.ready("Serving requests")
            await onStarted(server, addresses)
        }
        // A service that ends would end the others.
        try? await gracefulShutdown()
    }

    /// Opens the server if it is not open already, and notes its settings; returns nil if the task is cancelled
    /// meanwhile.
    private func server() async throws -> OpenedServer? {
        var server = opened.current
        if server == nil { manager.ready("Waiting for the database") }
        var pause = Self.firstPause
        var reported: String?
        while !Task.isCancelled {
            do {
                let current = if let server { server } else { try await open() }
                server = current
                try await note(current)
                return current
            } catch let failure as CommandFailure where failure.isTemporary && server?.lock == nil {
                if failure.message != reported {
                    logger.error("waiting for the database", metadata: ["error": "\(failure.message)"])
                    reported = failure.message
                }
            }
            // With jitter, so that several servers do not try at the same moment.
            try? await Task.sleep(for: pause * Double.random(in: 0.5...1))
            pause = min(pause * 2, Self.longestPause)
        }
        return nil
    }
}

/// A service that runs when the server is open.
struct DeferredService: Service {
    let opened: LaterValue<OpenedServer>
    let body: @Sendable (OpenedServer) async throws -> Void

    init(_ opened: LaterValue<OpenedServer>, _ body: @escaping @Sendable (OpenedServer) async throws -> Void) {
        self.opened = opened
        self.body = body
    }

    func run() async throws {
        let server = await cancelWhenGracefulShutdown { await opened.wait() }
        guard let server else { return }
        try await body(server)
    }
}

/// The service that is told first that the server stops: load balancers get time to notice that it is not ready.
struct ShutdownService: Service {
    private let delay: Duration
    private let isReady: @Sendable () -> Bool
    /// The signals since this value was created, of which the second ends the delay.
    private let signals: UnixSignalsSequence?
    private let begin: @Sendable (Duration) -> Void
    private let end: @Sendable () -> Void

    /// - Parameters:
    ///   - delay: The time between the two functions.
    ///   - isReady: A function that returns false if no load balancer uses the server yet, so that there is no delay.
    ///   - end: A function that is called after the delay.
    ///   - begin: A function that is called at once, before the delay, with its length.
    init(
        after delay: Duration, ifReady isReady: @escaping @Sendable () -> Bool,
        end: @escaping @Sendable () -> Void, begin: @escaping @Sendable (Duration) -> Void
    ) async {
        self.delay = delay
        self.isReady = isReady
        self.end = end
        self.begin = begin
        signals = delay > .zero ? await UnixSignalsSequence(trapping: .sigterm, .sigint) : nil
    }

    func run() async throws {
        try? await gracefulShutdown()
        let time: Duration = isReady() ? delay : .zero
        begin(time)
        defer { end() }
        guard let signals, time > .zero, !Task.isCancelled else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await Task.sleep(for: time) }
            group.addTask {
                var count = 0
                for await _ in signals {
                    count += 1
                    if count == 2 { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }
}

/// The signs of life for the service manager, as long as every event loop answers.
struct Watchdog {
    let manager: ServiceManager

    /// Sends signs of life until the task is cancelled; returns at once if none is expected.
    func run() async {
        guard let interval = manager.watchdogInterval else { return }
        while !Task.isCancelled {
            await WebServer.pingEventLoops()
            manager.watchdog()
            try? await Task.sleep(for: interval)
        }
    }
}

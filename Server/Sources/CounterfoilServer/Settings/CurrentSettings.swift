@_spi(Counterfoil) import CounterfoilProtocol

/// The settings of a running server, for the services that run as long as the process.
final class CurrentSettings: Sendable {
    private let settings: Mutex<ServerSettings>

    init(_ settings: ServerSettings) { self.settings = Mutex(settings) }

    var value: ServerSettings { settings.withLock(\.self) }

    func replace(by settings: ServerSettings) { self.settings.withLock { $0 = settings } }
}

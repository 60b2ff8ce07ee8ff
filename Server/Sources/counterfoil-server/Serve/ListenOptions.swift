import ArgumentParser
import CounterfoilWeb
import HTTPListener

extension Settings {
    static let listen = Setting(
        "listen", .listeners,
        default: [], value: "address", example: "127.0.0.1:8080", isRequired: true,
        "An address to listen on: HOST:PORT, unix:PATH, or systemd or systemd:NAME for sockets of systemd. Can be "
            + "repeated.")
    static let drainDelay = Setting(
        "drain-delay", .time(0...600), default: 0, value: "time",
        "The time between SIGTERM and the end of listening, in which a load balancer notices that /readyz fails, 0s to "
            + "10m.")
    static let stopTimeout = Setting(
        "stop-timeout", .time(1...3600), default: 30, value: "time",
        "The time in which the last requests are answered, 1s to 1h; then their connections are closed.")
}

extension SettingForm<[ListenOptions.Choice]> {
    fileprivate static let listeners = SettingForm(
        listOf: .text("^(.+:[0-9]{1,5}|unix:/.*|systemd(:[^:]+)?)$"),
        read: { texts throws(SettingRefusal) in
            guard !texts.isEmpty else {
                throw SettingRefusal(words: " is an empty list; it must have at least one value.")
            }
            var choices: [ListenOptions.Choice] = []
            for text in texts {
                do { choices.append(try ListenOptions.Choice(text)) } catch { throw .text(text, "\(error)") }
            }
            return choices
        })
}

/// The options of `serve` for its listeners, and for how it stops.
struct ListenOptions: SettingGroup {
    static let title = "Listening and stopping"

    @Option(Settings.listen) var listen: [String]
    @Option(Settings.drainDelay) var drainDelay: String?
    @Option(Settings.stopTimeout) var stopTimeout: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.listen, \.listen), .init(Settings.drainDelay, \.drainDelay),
        .init(Settings.stopTimeout, \.stopTimeout),
    ]

    /// A place to listen, as in the option.
    enum Choice: Sendable, CustomStringConvertible {
        case address(HostAndPort)
        case unixSocket(path: String)
        /// Sockets of systemd; without a name, all that no other option names.
        case systemd(name: String?)

        init(_ text: String) throws {
            if text.hasPrefix("unix:") {
                let path = String(text.dropFirst("unix:".count))
                guard path.hasPrefix("/") else { throw Refusal(description: "must be unix: and an absolute path") }
                self = .unixSocket(path: path)
            } else if text == "systemd" {
                self = .systemd(name: nil)
            } else if text.hasPrefix("systemd:") {
                let name = String(text.dropFirst("systemd:".count))
                guard !name.isEmpty, !name.contains(":") else {
                    throw Refusal(description: "must be systemd, or systemd: and the name of a socket")
                }
                self = .systemd(name: name)
            } else {
                self = .address(try HostAndPort(text))
            }
        }

        /// Throws unless it is a TCP port or one named socket.
        func checkForRedirect() throws {
            switch self {
            case .address, .systemd(.some): return
            case .unixSocket, .systemd(.none): throw Refusal(description: "must be HOST:PORT or systemd:NAME")
            }
        }

        var isUnixSocket: Bool { if case .unixSocket = self { true } else { false } }

        /// The text of the option.
        var description: String {
            switch self {
            case .address, .unixSocket: address.map { "\($0)" } ?? ""
            case .systemd(let name): "systemd" + (name.map { ":\($0)" } ?? "")
            }
        }

        /// The address, unless it is a socket of systemd.
        var address: ListeningAddress? {
            switch self {
            case .address(let address): .host(address.host, port: address.port)
            case .unixSocket(let path): .unixSocket(at: path)
            case .systemd: nil
            }
        }
    }

    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// The listeners of a server.
    struct Listeners {
        var requests: [ListeningAddress]
        /// The address at which plain http is redirected.
        var redirects: ListeningAddress?
        var delay = Duration.zero
        var stop = StopLimits.standard
        var manager = ServiceManager(environment: [:], process: 0)
    }
}

extension ServeConfiguration {
    /// Returns the listeners, with the sockets that systemd has passed.
    ///
    /// Call it once, before other threads run: it changes the environment.
    func listeners() throws(CommandFailure) -> ListenOptions.Listeners {
        var passed: PassedSockets
        do { passed = try PassedSockets.ofThisProcess() } catch { throw .refused("\(error)") }
        let choices = self[Settings.listen]
        var addresses = choices.map { choice in choice.address.map { [$0] } ?? [] }
        // A name comes before the rest.
        for (index, choice) in choices.enumerated() {
            guard case .systemd(.some) = choice else { continue }
            addresses[index] = try take(choice, from: &passed, for: Settings.listen)
        }
        var redirects: ListeningAddress?
        if let choice = self[Settings.redirectListen] {
            redirects = choice.address
            if case .systemd = choice {
                let taken = try take(choice, from: &passed, for: Settings.redirectListen)
                guard taken.count == 1 else {
                    throw .refused(
                        words("\(Settings.redirectListen) \(choice): systemd has passed several sockets with this name")
                    )
                }
                redirects = taken.first
            }
        }
        for (index, choice) in choices.enumerated() {
            guard case .systemd(.none) = choice else { continue }
            addresses[index] = try take(choice, from: &passed, for: Settings.listen)
        }
        do { try passed.checkThatAllAreTaken() } catch { throw .refused("\(error)") }
        return ListenOptions.Listeners(
            requests: addresses.flatMap { $0 }, redirects: redirects, delay: .seconds(self[Settings.drainDelay]),
            stop: StopLimits(patience: .seconds(self[Settings.stopTimeout])), manager: .ofThisProcess())
    }

    /// Takes the sockets of systemd for a choice.
    private func take<Value>(
        _ choice: ListenOptions.Choice, from passed: inout PassedSockets, for setting: Setting<Value>
    ) throws(CommandFailure) -> [ListeningAddress] {
        guard case .systemd(let name) = choice else { return [] }
        do { return try passed.take(name) } catch { throw .refused(words("\(setting) \(choice): \(error)")) }
    }
}

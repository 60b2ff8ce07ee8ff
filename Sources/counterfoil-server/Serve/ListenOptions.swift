import ArgumentParser
import CounterfoilWeb

/// The options of `serve` for its listeners, and for how it stops.
struct ListenOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "An address to listen on: HOST:PORT, unix:PATH, or systemd or systemd:NAME for sockets of systemd. Can be "
                + "repeated.",
            valueName: "address"))
    var listen: [String]

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time between SIGTERM and the end of listening, in which a load balancer notices that /readyz fails, "
                + "0s to 10m.",
            valueName: "time"))
    var drainDelay = Seconds(0)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time in which the last requests are answered, 1s to 1h; then their connections are closed.",
            valueName: "time"))
    var stopTimeout = Seconds(30)

    /// A place to listen, as in the option.
    enum Choice {
        case address(ListenAddress)
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
                self = .address(try ListenAddress(text))
            }
        }

        /// Throws unless it is a TCP port or one named socket.
        func checkForRedirect() throws {
            switch self {
            case .address, .systemd(.some): return
            case .unixSocket, .systemd(.none): throw Refusal(description: "must be HOST:PORT or systemd:NAME")
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

    func validate() throws {
        for text in listen {
            do { _ = try Choice(text) } catch { throw ValidationError("--listen \(text): \(error).") }
        }
        try SettingForm.check(drainDelay.value, of: "drain-delay")
        try SettingForm.check(stopTimeout.value, of: "stop-timeout")
    }

    /// Whether a TCP port can be among the listeners; the kinds of sockets of systemd are known at the start only.
    var canListenOnTCP: Bool {
        get throws {
            try listen.contains { text in
                switch try Choice(text) {
                case .address, .systemd: true
                case .unixSocket: false
                }
            }
        }
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

    /// Returns the listeners, with the sockets that systemd has passed.
    ///
    /// Call it once, before other threads run: it changes the environment.
    ///
    /// - Parameter redirect: The value of `--redirect-listen`.
    func listeners(redirecting redirect: String?) throws -> Listeners {
        var passed: PassedSockets
        do { passed = try PassedSockets.ofThisProcess() } catch { throw CommandFailure.refused("\(error)") }
        func take(_ name: String?, for option: String) throws -> [ListeningAddress] {
            do { return try passed.take(name) } catch { throw CommandFailure.refused("\(option): \(error)") }
        }
        let choices = try listen.map { (text: $0, choice: try Choice($0)) }
        var addresses = choices.map { one in one.choice.address.map { [$0] } ?? [] }
        // A name comes before the rest.
        for (index, one) in choices.enumerated() {
            guard case .systemd(let name?) = one.choice else { continue }
            addresses[index] = try take(name, for: "--listen \(one.text)")
        }
        var redirects: ListeningAddress?
        if let redirect {
            let choice = try Choice(redirect)
            redirects = choice.address
            if case .systemd(let name?) = choice {
                let taken = try take(name, for: "--redirect-listen \(redirect)")
                guard taken.count == 1 else {
                    throw CommandFailure.refused(
                        "--redirect-listen \(redirect): systemd has passed several sockets with this name")
                }
                redirects = taken.first
            }
        }
        for (index, one) in choices.enumerated() {
            guard case .systemd(.none) = one.choice else { continue }
            addresses[index] = try take(nil, for: "--listen \(one.text)")
        }
        do { try passed.checkThatAllAreTaken() } catch { throw CommandFailure.refused("\(error)") }
        return Listeners(
            requests: addresses.flatMap { $0 }, redirects: redirects, delay: .seconds(drainDelay.value),
            stop: StopLimits(patience: .seconds(stopTimeout.value)), manager: .ofThisProcess())
    }
}

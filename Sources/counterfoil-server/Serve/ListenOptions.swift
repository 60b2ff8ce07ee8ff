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
            "The seconds between SIGTERM and the end of listening, in which a load balancer notices that /readyz "
                + "fails.",
            valueName: "seconds"))
    var drainDelay = 0

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The seconds in which the last requests are answered; then their connections are closed.",
            valueName: "seconds"))
    var stopTimeout = 30

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
    }

    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    func validate() throws {
        for text in listen {
            do { _ = try Choice(text) } catch { throw ValidationError("--listen \(text): \(error).") }
        }
        guard (0...600).contains(drainDelay) else {
            throw ValidationError("--drain-delay must be a number of seconds from 0 to 600.")
        }
        guard (1...3600).contains(stopTimeout) else {
            throw ValidationError("--stop-timeout must be a number of seconds from 1 to 3600.")
        }
    }

    /// The listeners of a server.
    struct Listeners {
        var requests: [ListeningAddress]
        var delay = Duration.zero
        var stop = StopLimits.standard
        var manager = ServiceManager(environment: [:], process: 0)
    }

    /// Returns the listeners, with the sockets that systemd has passed.
    ///
    /// Call it once, before other threads run: it changes the environment.
    func listeners() throws -> Listeners {
        let choices = try listen.map { try Choice($0) }
        var passed = PassedSockets.ofThisProcess()
        var addresses: [[ListeningAddress]] = Array(repeating: [], count: choices.count)
        // A name comes before the rest.
        for isNamed in [true, false] {
            for (index, choice) in choices.enumerated() {
                guard case .systemd(let name) = choice, (name != nil) == isNamed else { continue }
                do { addresses[index] = try passed.take(name) } catch {
                    throw CommandFailure.refused("--listen \(listen[index]): \(error)")
                }
            }
        }
        for (index, choice) in choices.enumerated() {
            switch choice {
            case .address(let address): addresses[index] = [.host(address.host, port: address.port)]
            case .unixSocket(let path): addresses[index] = [.unixSocket(at: path)]
            case .systemd: break
            }
        }
        return Listeners(
            requests: addresses.flatMap { $0 }, delay: .seconds(drainDelay),
            stop: StopLimits(patience: .seconds(stopTimeout)), manager: .ofThisProcess())
    }
}

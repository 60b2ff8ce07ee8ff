import ArgumentParser
import CounterfoilServer
import CounterfoilWeb
import HTTPTypes

/// The options of `serve` for proxies, scripts of other origins and outbound requests.
struct NetworkOptions: ParsableArguments {
    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            "A proxy whose X-Forwarded-For is trusted, such as 127.0.0.1 or 10.0.0.0/8, or unix for Unix sockets. Can "
                + "be repeated.",
            valueName: "cidr"))
    var trustedProxies: [String] = []

    @Option(
        name: .customLong("cors-header"),
        help: ArgumentHelp(
            "A header that scripts of other origins may send, besides those of the protocols and of tracing. Can be "
                + "repeated.",
            valueName: "name"))
    var crossOriginFields: [String] = []

    @Option(
        name: .customLong("outbound-network"),
        help: ArgumentHelp(
            "A private network that outbound requests may reach, such as 10.20.0.0/16. Everyone who may register apps "
                + "can make the server connect to it. Can be repeated.",
            valueName: "cidr"))
    var outboundNetworks: [String] = []

    @Option(
        name: .customLong("outbound-ca"),
        help: ArgumentHelp(
            "A PEM file of certificate authorities that outbound requests trust in addition to those of the system.",
            valueName: "file"))
    var outboundAuthorities: String?

    func validate() throws {
        for name in crossOriginFields where HTTPField.Name(name) == nil {
            throw ValidationError(
                "--cors-header \(name.debugDescription): this is not the name of a header, such as X-Request-Id.")
        }
        do { _ = try TrustedProxies(trustedProxies) } catch { throw ValidationError("--trusted-proxy: \(error).") }
        do { _ = try OutboundNetworks(outboundNetworks) } catch {
            throw ValidationError("--outbound-network: \(error).")
        }
    }

    /// Returns the rules for outbound requests, with the networks and certificate authorities of the options.
    func outboundRules() throws -> OutboundRules {
        let networks = try OutboundNetworks(outboundNetworks)
        guard let outboundAuthorities else { return OutboundRules(networks: networks) }
        let text = try RegularFile.text(at: outboundAuthorities, for: "--outbound-ca", limit: 1 << 20)
        do { return OutboundRules(networks: networks, authorities: try OutboundAuthorities(pem: text)) } catch {
            throw CommandFailure.refused("--outbound-ca: cannot use the file \(outboundAuthorities): \(error)")
        }
    }
}

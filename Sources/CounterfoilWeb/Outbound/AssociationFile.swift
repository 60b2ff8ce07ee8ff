import AsyncHTTPClient
public import CounterfoilProtocol
public import CounterfoilServer
package import NIOCore
import NIOHTTP1

/// Gets the association files of hosts that developers have named, by the rules of ``OutboundRules``.
///
/// https at the usual port of a host name, no redirects, no cookies, no proxy, bounded size and time.
public struct AssociationFileFetcher: AssociationFetcher {
    private let hosts: OutboundHosts

    /// Makes a fetcher that reaches the public internet, and what the owner's rules add.
    public init(_ rules: OutboundRules = .standard) {
        self.init(rules, insecureLoopbackPort: nil, lookUp: HostName.addresses(of:))
    }

    /// Makes a fetcher with a name service of its own; with a port it reaches this port of this device, by http.
    package init(
        _ rules: OutboundRules = .standard,
        insecureLoopbackPort: Int?,
        timeLimit: TimeAmount = .seconds(5),
        lookUp: @escaping @Sendable (String) -> [[UInt8]]
    ) {
        hosts = OutboundHosts(
            label: "counterfoil.lookups", rules: rules, insecureLoopbackPort: insecureLoopbackPort,
            timeLimit: timeLimit, lookUp: lookUp)
    }

    /// Gets the file at an https URL.
    public func fetch(_ url: AbsoluteURI) async -> AssociationFetch {
        guard url.port == nil || url.port == 443 else { return .failed(.unsuitableURL) }
        let outcome = await hosts.ask(url, for: url.host ?? "") { target in
            var request = HTTPClientRequest(url: target)
            request.headers.add(name: "Accept", value: "application/json")
            request.headers.add(name: "User-Agent", value: "Counterfoil")
            return request
        } read: { response in
            let types = response.headers["Content-Type"]
            let isGood = response.status.code == 200
            return AssociationFetch.answered(
                status: Int(response.status.code), contentType: types.count == 1 ? types[0] : nil,
                body: isGood
                    ? Array(try await response.body.collect(upTo: AssociationCheck.byteLimit).readableBytesView) : [])
        }
        switch outcome {
        case .answered(let answer): return answer
        case .failed(let failure): return .failed(failure)
        }
    }
}

import AsyncHTTPClient
public import CounterfoilProtocol
public import CounterfoilServer
package import NIOCore
import NIOHTTP1

/// Fetches the association files of hosts that developers have named, within ``OutboundRules``.
///
/// It uses https on port 443 of a host name, without redirects, cookies or proxies, and limits size and time.
public struct AssociationFileFetcher: AssociationFetcher {
    private let hosts: OutboundHosts

    /// Creates a fetcher that reaches public addresses, and the private networks of the rules.
    public init(_ rules: OutboundRules = .standard) {
        self.init(rules, insecureLoopbackPort: nil, lookUp: HostName.addresses(of:))
    }

    /// Creates a fetcher with its own resolver.
    ///
    /// If a loopback port is given, requests go there over http.
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

    /// Fetches the file at an https URL.
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

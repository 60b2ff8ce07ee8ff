import AsyncHTTPClient
import CounterfoilProtocol
public import CounterfoilServer
package import NIOCore
import NIOHTTP1

/// Posts logout tokens to the back-channel logout URIs of clients (OpenID Connect Back-Channel Logout §2.5).
///
/// It follows the same rules as ``AssociationFileFetcher``, except that any port is allowed. It does not read
/// the body of the response.
public struct LogoutNoticePost: LogoutNoticeSender {
    private let hosts: OutboundHosts

    /// Creates a sender that reaches public addresses, and the private networks of the rules.
    public init(_ rules: OutboundRules = .standard) {
        self.init(rules, insecureLoopbackPort: nil, lookUp: HostName.addresses(of:))
    }

    /// Creates a sender with its own resolver.
    ///
    /// If a loopback port is given, requests go there over http.
    package init(
        _ rules: OutboundRules = .standard,
        insecureLoopbackPort: Int?,
        timeLimit: TimeAmount = .seconds(5),
        lookUp: @escaping @Sendable (String) -> [[UInt8]]
    ) {
        hosts = OutboundHosts(
            label: "counterfoil.logout.lookups", rules: rules, insecureLoopbackPort: insecureLoopbackPort,
            timeLimit: timeLimit, lookUp: lookUp)
    }

    /// Posts a logout token once, without retry.
    public func send(_ notice: LogoutNotice) async -> LogoutNoticeOutcome {
        let form = notice.form.encoded
        let outcome = await hosts.ask(notice.address, for: notice.party) { target in
            var request = HTTPClientRequest(url: target)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.headers.add(name: "User-Agent", value: "Counterfoil")
            request.body = .bytes(ByteBuffer(string: form))
            return request
        } read: { response in
            Int(response.status.code)
        }
        switch outcome {
        case .answered(let status): return .answered(status: status)
        case .failed(.busy): return .notTried
        case .failed(let failure): return .failed("\(failure)")
        }
    }
}

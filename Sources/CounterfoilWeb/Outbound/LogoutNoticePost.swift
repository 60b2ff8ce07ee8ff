import AsyncHTTPClient
import CounterfoilProtocol
public import CounterfoilServer
package import NIOCore
import NIOHTTP1

/// Posts logout tokens to the applications that want them (OpenID Connect Back-Channel Logout §2.5), as carefully as
/// ``AssociationFileFetcher`` gets files; the body of the answer is not read.
public struct LogoutNoticePost: LogoutNoticeSender {
    private let hosts: OutboundHosts

    /// Makes a sender that reaches the public internet, and what the owner's rules add.
    public init(_ rules: OutboundRules = .standard) {
        self.init(rules, insecureLoopbackPort: nil, lookUp: HostName.addresses(of:))
    }

    /// Makes a sender with a name service of its own; with a port it reaches this port of this device, by http.
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

    /// Posts a notice once.
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

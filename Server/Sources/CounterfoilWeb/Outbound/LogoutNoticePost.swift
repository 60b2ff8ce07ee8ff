public import CounterfoilServer

/// Posts logout tokens to the back-channel logout URIs of clients (OpenID Connect Back-Channel Logout §2.5).
///
/// The URI can contain any port. The private networks of the outbound client are open to the hosts of registered
/// clients, and to those that the owner has named for unregistered ones.
public struct LogoutNoticePost: LogoutNoticeSender {
    private let client: OutboundClient
    /// The client for all other hosts of unregistered clients, which reaches no private network.
    private let publicClient: OutboundClient

    /// Creates a sender that sends its requests with an outbound client.
    public init(_ client: OutboundClient) {
        self.client = client
        publicClient = client.withoutPrivateNetworks
    }

    /// Posts a logout token once; the caller decides about a retry.
    public func send(_ notice: LogoutNotice) async -> LogoutNoticeOutcome {
        do {
            return .answered(
                status: try await (notice.mayReachPrivateNetworks ? client : publicClient).post(
                    notice.form, to: notice.address, for: notice.party))
        } catch .busy {
            return .notTried
        } catch {
            return .failed("\(error)")
        }
    }
}

public import CounterfoilServer

/// Posts logout tokens to the back-channel logout URIs of clients (OpenID Connect Back-Channel Logout §2.5).
///
/// The URI can contain any port.
public struct LogoutNoticePost: LogoutNoticeSender {
    private let client: OutboundClient

    /// Creates a sender that sends its requests with an outbound client.
    public init(_ client: OutboundClient) { self.client = client }

    /// Posts a logout token once; the caller decides about a retry.
    public func send(_ notice: LogoutNotice) async -> LogoutNoticeOutcome {
        do {
            return .answered(status: try await client.post(notice.form, to: notice.address, for: notice.party))
        } catch .busy {
            return .notTried
        } catch {
            return .failed("\(error)")
        }
    }
}

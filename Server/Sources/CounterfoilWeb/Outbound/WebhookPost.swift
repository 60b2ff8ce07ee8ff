public import CounterfoilServer

/// Posts events to the URLs of webhooks, with the fields of Standard Webhooks 1.0.0.
public struct WebhookPost: WebhookSender {
    private let client: OutboundClient

    /// Creates a sender that sends its requests with an outbound client.
    public init(_ client: OutboundClient) { self.client = client }

    /// Posts an event once; the caller decides about a retry.
    public func send(_ request: WebhookRequest) async -> WebhookOutcome {
        do {
            let response = try await client.post(
                request.body,
                fields: [
                    ("Content-Type", "application/json"), ("webhook-id", request.id),
                    ("webhook-timestamp", String(request.timestamp)), ("webhook-signature", request.signature),
                ], to: request.url, for: request.party)
            return .answered(status: response.status, retryAfter: response.retryAfter)
        } catch {
            return error == .busy ? .notTried : .failed(error)
        }
    }
}

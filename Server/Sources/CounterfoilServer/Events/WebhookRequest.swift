public import CounterfoilProtocol
import Foundation

/// A request that posts an event to the receiver of a webhook (Standard Webhooks 1.0.0).
public struct WebhookRequest: Sendable, Hashable {
    /// The destination.
    public let url: AbsoluteURI
    /// The identifier of the event, `webhook-id`.
    public let id: String
    /// The time of the attempt in seconds since 1970, `webhook-timestamp`.
    public let timestamp: Int
    /// The signatures, one for each valid secret, `webhook-signature`.
    public let signature: String
    /// The event as JSON.
    public let body: [UInt8]
    /// The webhook; the sender limits the concurrent DNS lookups for one party.
    public let party: String

    init(_ event: EventDocument, to url: AbsoluteURI, at now: Date, with secrets: [WebhookSecret], party: String)
        throws
    {
        self.url = url
        self.party = party
        id = event.id
        let timestamp = Int(now.timeIntervalSince1970)
        self.timestamp = timestamp
        let body = try event.json()
        self.body = body
        signature = secrets.map { $0.signature(of: event.id, at: timestamp, body) }.joined(separator: " ")
    }
}

/// A sender of events to URLs that administrators have registered.
///
/// An implementation connects only to public IP addresses, and to those that ``OutboundNetworks`` allows. It follows
/// no redirect, does not read the response beyond its head, and limits the duration of the request.
public protocol WebhookSender: Sendable {
    /// Posts an event once, without a retry.
    func send(_ request: WebhookRequest) async -> WebhookOutcome
}

/// The outcome of an attempt to post an event.
public enum WebhookOutcome: Sendable, Hashable {
    /// The receiver answered with this HTTP status, and wants the next attempt after a number of seconds, if any.
    case answered(status: Int, retryAfter: Int?)
    /// The request failed.
    case failed(OutboundFailure)
    /// The request was not sent, because too many other requests were in flight.
    case notTried
}

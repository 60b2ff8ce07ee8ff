public import CounterfoilProtocol
import CounterfoilStore

/// A back-channel logout notification for a client (OpenID Connect Back-Channel Logout §2.5).
public struct LogoutNotice: Sendable, Hashable {
    /// The destination, `backchannel_logout_uri`.
    public let address: AbsoluteURI
    /// The body: a form with the single parameter `logout_token`.
    public let form: FormParameters
    /// The owner of the client, all unregistered clients together, or a registered client without an owner; the
    /// sender limits the concurrent DNS lookups for one party.
    public let party: String
    /// Whether the host can be in a private network that the operator allows.
    ///
    /// This is true for a registered client. For an unregistered client it is true only if the owner's policy names
    /// the host (`UnregisteredClientPolicy.allowedHosts`).
    public let mayReachPrivateNetworks: Bool

    init(to address: AbsoluteURI, token: String, party: String = "", mayReachPrivateNetworks: Bool = false) {
        self.address = address
        self.party = party
        self.mayReachPrivateNetworks = mayReachPrivateNetworks
        form = FormParameters(["logout_token": token])
    }
}

/// A sender of notifications to URIs that clients have registered.
///
/// An implementation connects only to public IP addresses, and to those that ``OutboundNetworks`` allows if
/// ``LogoutNotice/mayReachPrivateNetworks`` is true. It follows no redirect, and limits the size of the response and
/// the duration of the request.
public protocol LogoutNoticeSender: Sendable {
    /// Posts a notification once, without a retry.
    func send(_ notice: LogoutNotice) async -> LogoutNoticeOutcome
}

/// The outcome of a delivery attempt.
public enum LogoutNoticeOutcome: Sendable, Hashable {
    /// The client answered with this HTTP status.
    case answered(status: Int)
    /// The request failed; the value is the reason of the failure, for the log only.
    case failed(String)
    /// The request was not sent, because too many other requests were in flight.
    case notTried

    /// Whether the client has accepted the notification (OpenID Connect Back-Channel Logout §2.8).
    var isDelivered: Bool { if case .answered(let status) = self { [200, 204].contains(status) } else { false } }
}

public import CounterfoilProtocol

/// That a session has ended, on its way to an application that wants to be told.
///
/// OpenID Connect Back-Channel Logout §2.5.
public struct LogoutNotice: Sendable, Hashable {
    /// Where it goes, `backchannel_logout_uri`.
    public let address: AbsoluteURI
    /// The body, a form with the one parameter `logout_token`.
    public let form: FormParameters
    /// The party that has named the address, by which limits count: the owner of the client, or the client itself.
    public let party: String

    init(to address: AbsoluteURI, token: String, party: String = "") {
        self.address = address
        self.party = party
        form = FormParameters(["logout_token": token])
    }

    /// Whether notices may go to an address at all: https, a host name, no user information and no fragment.
    ///
    /// OpenID Connect Back-Channel Logout §2.2. The addresses of the host are judged at each delivery, because they can change.
    static func canGo(to address: AbsoluteURI) -> Bool {
        address.scheme.lowercased() == "https" && address.userInformation == nil && address.fragment == nil
            && address.host.map { DomainName.isValid(DomainName.canonical($0)) } ?? false
            && address.rawValue.utf8.count <= RedirectURIRegistration.byteLimit
    }
}

/// Takes notices to applications, at addresses that somebody else has named.
///
/// An implementation connects only to addresses that ``OutboundNetworks`` allows, follows no redirect, and bounds size and time.
public protocol LogoutNoticeSender: Sendable {
    /// Posts a notice once.
    func send(_ notice: LogoutNotice) async -> LogoutNoticeOutcome
}

/// What came of sending a notice.
public enum LogoutNoticeOutcome: Sendable, Hashable {
    /// The application answered with a status.
    case answered(status: Int)
    /// It did not; why, for the log.
    case failed(String)
    /// It was not asked, because too much else was on its way.
    case notTried

    /// Whether the application has taken it (OpenID Connect Back-Channel Logout §2.8).
    var isDelivered: Bool { if case .answered(let status) = self { [200, 204].contains(status) } else { false } }
}

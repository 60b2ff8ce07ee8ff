import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Back-channel logout of clients that registered themselves (OpenID Connect Back-Channel Logout §2.5).
struct UnregisteredLogoutTests {
    private static let host = "rp.example.net"

    private static func metadata(_ host: String = host) -> [String: Any] {
        [
            "redirect_uris": ["http://127.0.0.1/cb", RegistrationDesk.callback],
            "token_endpoint_auth_method": "none", "application_type": "native",
            "backchannel_logout_uri": "https://\(host)/logout",
        ]
    }

    private static func pattern(_ text: String) throws -> HostPattern { try #require(HostPattern(text)) }

    /// Signs alice in to clients in one browser, and ends the session.
    private static func endSession(with clients: [RegisteredClient], of test: TestServer) async throws {
        var browser = test.browser()
        for client in clients {
            _ = try await Attempt(test, by: client, at: "http://127.0.0.1:51004/cb", for: "openid")
                .tokens(in: &browser)
        }
        let account = try await browser.open("/account").accountPage
        _ = try await browser.submit(
            FormParameters(["ticket": account.console.signOutTicket]), to: account.console.paths.signOut)
    }

    /// Registers a client with a logout URI, as an administrator does.
    private static func registered(at test: TestServer) async throws -> RegisteredClient {
        var client = try await test.register("Honest", redirectURIs: ["http://127.0.0.1/cb"])
        client.backchannelLogoutURI = try AbsoluteURI(parsing: "https://honest.example.net/logout")
        #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
        let stored = try await test.store.client(client.id)
        return try #require(stored)
    }

    // RFC 7591 §2, RFC 7592 §2.2
    @Test func `a logout URI at a host that the policy refuses is not registered`() async throws {
        let desk = try await RegistrationDesk()
        let client = try await desk.registered(Self.metadata("inside.example.org"))
        let (allowed, refused) = (try Self.pattern("*.example.net"), try Self.pattern("bad.example.net"))
        try await desk.set { policy in
            policy.allowedHosts = [allowed]
            policy.refusedHosts = [refused]
        }
        for host in ["inside.example.org", "bad.example.net", "BAD.example.net"] {
            let reason = try await desk.refusal(of: Self.metadata(host))
            #expect(reason.contains("backchannel_logout_uri: this server does not accept clients of the host"))
            #expect(try await client.replace(Self.metadata(host)).status == .badRequest)
        }
        #expect(try await client.replace(Self.metadata()).status == .ok)
        _ = try await desk.registered(Self.metadata())
    }

    @Test(arguments: [false, true])
    func `a private network is open to a client that registered itself only if the policy names the host`(
        isNamed: Bool
    ) async throws {
        let receiver = NoticeReceiver()
        let named = try Self.pattern(Self.host)
        let desk = try await RegistrationDesk(logoutSender: receiver) { $0.allowedHosts = isNamed ? [named] : [] }
        let stranger = try await desk.registered(Self.metadata()).registration()
        let registered = try await Self.registered(at: desk.test)
        try await Self.endSession(with: [stranger, registered], of: desk.test)
        #expect(try await #require(desk.test.server.logoutNotifier).deliverDue() == 2)
        let notices = Dictionary(grouping: receiver.notices) { $0.address.host ?? "" }
        #expect(notices[Self.host]?.map(\.mayReachPrivateNetworks) == [isNamed])
        #expect(notices["honest.example.net"]?.map(\.mayReachPrivateNetworks) == [true])
    }

    /// A change of the policy after which a client with the host `rp.example.net` is not accepted.
    enum PolicyChange: CaseIterable {
        case kind, host, logoutHost, unlistedHost
    }

    @Test(arguments: PolicyChange.allCases)
    func `a client that the policy no longer accepts is not notified`(_ change: PolicyChange) async throws {
        let receiver = NoticeReceiver()
        let desk = try await RegistrationDesk(logoutSender: receiver)
        let logoutHost = "logout.example.net"
        let stranger = try await desk.registered(Self.metadata(logoutHost)).registration()
        let registered = try await Self.registered(at: desk.test)
        try await Self.endSession(with: [stranger, registered], of: desk.test)
        let former = try await desk.test.store.unregisteredClientPolicy()
        let hosts = [try Self.pattern(Self.host), try Self.pattern(logoutHost)]
        try await desk.set { policy in
            switch change {
            case .kind: policy.kinds = [.document]
            case .host: policy.refusedHosts = [hosts[0]]
            case .logoutHost: policy.refusedHosts = [hosts[1]]
            case .unlistedHost: policy.allowedHosts = [hosts[0]]
            }
        }
        let notifier = try #require(desk.test.server.logoutNotifier)
        #expect(try await notifier.deliverDue() == 2)
        #expect(receiver.notices.map(\.address.host) == ["honest.example.net"])
        #expect(desk.test.server.metrics.snapshot.events[.logoutDelivered] == 1)

        // The notification was discarded: it is not sent later, when the policy accepts the client again.
        #expect(try await desk.test.store.logoutBacklog().count == 0)
        try await desk.set { policy in
            (policy.kinds, policy.allowedHosts, policy.refusedHosts) =
                (former.kinds, former.allowedHosts, former.refusedHosts)
        }
        desk.test.clock.advance(by: 3600)
        #expect(try await notifier.deliverDue() == 0)
    }

    // One user of ten clients that registered themselves leaves the notifications of others their places.
    @Test func `all clients that registered themselves share the limits of one developer`() async throws {
        let receiver = NoticeReceiver()
        let desk = try await RegistrationDesk(logoutSender: receiver)
        var clients: [RegisteredClient] = []
        for number in 0..<10 {
            clients.append(try await desk.registered(Self.metadata("host-\(number).example.org")).registration())
        }
        clients.append(try await Self.registered(at: desk.test))
        try await Self.endSession(with: clients, of: desk.test)
        let notifier = try #require(desk.test.server.logoutNotifier)
        #expect(try await notifier.deliverDue() == LogoutDelivery.ownerLimit + 1)
        // The sender limits the DNS lookups for one party.
        let parties = Dictionary(grouping: receiver.notices, by: \.party)
        #expect(parties.values.map(\.count).sorted() == [1, LogoutDelivery.ownerLimit])
        #expect(try await notifier.deliverDue() == LogoutDelivery.ownerLimit)
    }
}

import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilClient

/// Tests of devices whose clock is wrong, or is set while tokens are stored.
@Suite(.timeLimit(.minutes(2)))
struct DeviceClockTests {
    private static let hour: TimeInterval = 3600

    // RFC 9110 §6.6.1
    @Test(
        arguments: [
            (7200, "2 h behind"), (-7200, "2 h ahead of"), (3720, "62 min behind"), (-90_000, "25 h ahead of"),
            (400 * 86_400, "400 days behind"), (-7 * 86_400, "7 days ahead of"),
        ] as [(Int, String)])
    func `a sign-in on a device whose clock is wrong by hours or days names the difference`(
        offset: Int, words: String
    ) async throws {
        var script = ServerScript()
        script.clockOffset = offset
        try await ScriptedAuthorizationServer.run(script) { server in
            let signIn = try SignedIn.signIn(at: server, scope: "openid")
            var onDevice = DeviceSignIn(signIn)
            onDevice.pause = { _ in }
            let prepared = onDevice
            for run in [{ try await signIn.run() }, { try await prepared.run { _ in } }]
                as [@Sendable () async throws -> Credentials]
            {
                let error = await #expect(throws: SignInError.self) { try await run() }
                guard case .unsafe(.clock(let difference, let refusal))? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(abs(difference.seconds + offset) <= 60)
                #expect(refusal == (offset > 0 ? .notYetValid : .expired))
                let sentence = "\(SignInError.unsafe(.clock(difference, refusal)))"
                #expect(sentence.hasPrefix("this device's clock is \(words) the server's, so"), "\(sentence)")
                #expect(sentence.contains("Set the clock of this device"))
            }
        }
    }

    // Without `openid`, no time of the server is read, and the lifetime is counted from the response.
    @Test(arguments: [-90_000, 90_000])
    func `the lifetime of a token does not depend on the server's clock`(offset: Int) async throws {
        var script = ServerScript()
        script.clockOffset = offset
        try await ScriptedAuthorizationServer.run(script) { server in
            let credentials = try await SignedIn.signIn(at: server).run()
            let received = try #require(credentials.received)
            #expect(credentials.expires == received.addingTimeInterval(Self.hour))
            #expect(abs(received.timeIntervalSinceNow) < 60)
            #expect(!credentials.isExpired())
        }
    }

    @Test(arguments: [7200, -7200])
    func `an ID token of a refresh that fails by the clock is discarded with the difference`(offset: Int) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, scope: "openid", in: store)
            server.change { $0.clockOffset = offset }
            let session = TokenSession(ofAnyClientIn: store)
            let discarded = Mutex<[SignInError]>([])
            session.observe { event in
                if case .idTokenDiscarded(let error) = event { discarded.withLock { $0.append(error) } }
            }
            let fresh = try await session.refreshed(replacing: first.accessToken)
            #expect(fresh.accessToken.exposed == server.accessTokens.last && fresh.idToken == first.idToken)
            guard case .unsafe(.clock(let difference, _))? = discarded.withLock(\.first) else {
                Issue.record("\(discarded.withLock(\.self))")
                return
            }
            #expect(abs(difference.seconds + offset) <= 60)
        }
    }

    // The clock of the device was ahead during the sign-in, and is right now.
    @Test(arguments: [60, 3600, 86_400, 34_560_000] as [TimeInterval])
    func `a token that arrived in the future is refreshed`(ahead: TimeInterval) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            let back: @Sendable () -> Date = { Date().addingTimeInterval(-ahead) }
            let session = TokenSession(ofAnyClientIn: store, now: back)
            #expect(first.isExpired(at: back()) && first.clockWasSetBack(at: back()))
            #expect(!first.isExpired() && !first.clockWasSetBack())
            let fresh = try await session.credentials()
            #expect(fresh.accessToken.exposed == server.accessTokens.last && fresh.accessToken != first.accessToken)
            // Once is enough.
            #expect(try await session.credentials() == fresh)
            #expect(try await TokenSession(ofAnyClientIn: store, now: back).credentials() == fresh)
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    // The clock is set while the program runs.
    @Test func `a session survives a clock that is set forward and back while it runs`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let offset = Mutex<TimeInterval>(0)
            let session = TokenSession(
                ofAnyClientIn: store, now: { Date().addingTimeInterval(offset.withLock(\.self)) })
            for (index, step) in [0, 7200, -7200, 90_000, -3, 0].enumerated() {
                offset.withLock { $0 = TimeInterval(step) }
                let token = try await session.credentials().accessToken
                #expect(token.exposed == server.accessTokens.last)
                #expect(try await session.credentials().accessToken == token)
                #expect(SignedIn.refreshes(at: server).count == [0, 1, 2, 3, 4, 4][index], "\(step)")
            }
        }
    }

    // The client cannot tell if the token is still valid, and has no other.
    @Test func `a token that arrived in the future is used if it cannot be refreshed`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.givesNoRefreshToken)) { server in
            let store: any TokenStore = MemoryTokenStore()
            let first = try await SignedIn.at(server, in: store)
            let back: @Sendable () -> Date = { Date().addingTimeInterval(-86_400) }
            let session = TokenSession(ofAnyClientIn: store, now: back)
            #expect(try await session.credentials() == first)
            #expect(StoredSignIn(TokenRecord(first)).isGood(at: back()) && !first.isExpired(at: back()))
            let later = TokenSession(ofAnyClientIn: store, now: { Date().addingTimeInterval(Self.hour) })
            await #expect(throws: SessionError.expired) { try await later.credentials() }
        }
    }

    // Records of former versions have no time of arrival.
    @Test func `credentials without a time of arrival are read and used`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let first = try await SignedIn.signIn(at: server, scope: "openid").run()
            #expect(first.received != nil)
            let encoded = try JSONEncoder().encode(first)
            #expect(try JSONDecoder().decode(Credentials.self, from: encoded) == first)
            var members = try #require(try JSONSerialization.jsonObject(with: encoded) as? [String: Any])
            for name in ["received", "clock_offset", "refresh_omits_id_token"] { members[name] = nil }
            let former = try JSONDecoder().decode(
                Credentials.self, from: JSONSerialization.data(withJSONObject: members))
            #expect(former.received == nil && former.expires == first.expires)
            #expect(!former.isExpired(at: Date().addingTimeInterval(-86_400)))
            let store: any TokenStore = MemoryTokenStore()
            try await store.save(former, as: .standard)
            #expect(try await TokenSession(ofAnyClientIn: store).credentials() == former)
        }
    }

    // RFC 7009 §2: the token may still be valid.
    @Test func `an access token of unknown age is revoked at the sign-out`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let signedIn = try await SignedIn.signIn(at: server).run()
            var members = try #require(
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(signedIn)) as? [String: Any])
            members["received"] = Date().addingTimeInterval(86_400).timeIntervalSinceReferenceDate
            let ahead = try JSONDecoder().decode(
                Credentials.self, from: JSONSerialization.data(withJSONObject: members))
            #expect(ahead.clockWasSetBack())
            #expect(try await TokenRevocation(transport: .standard).revoke(ahead) == .revoked)
            #expect(server.requests(to: .revocation).contains { $0.form["token"] == signedIn.accessToken.exposed })
        }
    }

    // RFC 9110 §6.6.1, RFC 9111 §5.1
    @Test func `a response without a date, or from a cache, shows no clock`() throws {
        func date(_ fields: HTTPFields) -> Date? {
            ServerClock.date(
                in: TransportResponse(head: HTTPResponse(status: .ok, headerFields: fields), body: []))
        }
        let stated = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(date([.date: stated]) == Date(timeIntervalSince1970: 784_111_777))
        #expect(date([.date: stated, .age: "5"]) == nil)
        #expect(date([.date: "yesterday"]) == nil && date([:]) == nil)
        #expect(ResponseTime(received: Date(), serverDate: nil).difference == 0)
    }
}

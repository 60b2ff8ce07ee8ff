import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The device code grant (RFC 8628 §3.4 and §3.5).
struct DeviceCodeGrantTests {
    // The user approves between the first and the second poll.
    @Test func `a device gets tokens after the approval`() async throws {
        let device = try await TestDevice(
            try await TestServer(), scope: "openid offline_access profile photos.read photos.write")
        let codes = try await device.codes(["scope": "openid offline_access photos.read"])
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
        var browser = device.test.browser()
        #expect(try await browser.answer(codes).deviceDonePage.kind == .approved)
        device.test.clock.advance(by: 5)
        let tokens = try await device.poll(codes).tokenResponse
        #expect(tokens.scope?.description == "openid offline_access photos.read")
        let access = try await IssuedTokens(device.test).verified(tokens.accessToken)
        #expect(access.clientID == device.client.id)
        #expect(access.subject == device.test.alice.id.rawValue)
        #expect(tokens.idToken != nil)
        let refreshed = await device.test.redeem(
            FormParameters([
                "grant_type": "refresh_token", "client_id": device.client.id.rawValue,
                "refresh_token": try #require(tokens.refreshToken).exposed,
            ]))
        #expect(refreshed.status == .ok)
    }

    // RFC 8628 §3.5, each early poll adds 5 seconds for good.
    @Test func `a device that polls every tenth of a second gets slow_down and a growing interval`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
        for poll in 1...10 {
            device.test.clock.advance(by: 0.1)
            let error = try await device.poll(codes).tokenError
            #expect(error.error == "slow_down")
            #expect(error.errorDescription?.contains("\(5 + 5 * poll) seconds") == true)
        }
        device.test.clock.advance(by: 54)
        #expect(try await device.poll(codes).tokenError.error == "slow_down")
        device.test.clock.advance(by: 60)
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
        // After the approval the next poll is answered, however early it is.
        var browser = device.test.browser()
        _ = try await browser.answer(codes)
        #expect(await device.poll(codes).status == .ok)
    }

    @Test func `a device code of another client, after a denial and after its expiry is refused`() async throws {
        let device = try await TestDevice(try await TestServer())
        let test = device.test
        let codes = try await device.codes()
        var browser = test.browser()
        #expect(try await device.poll(codes, by: test.lightbox).tokenError.error == "invalid_grant")
        _ = try await browser.answer(codes)
        #expect(try await device.poll(codes, by: test.lightbox).tokenError.error == "invalid_grant")
        #expect(await device.poll(codes).status == .ok)

        let denied = try await device.codes()
        #expect(try await browser.answer(denied, .deny).deviceDonePage.kind == .denied)
        #expect(try await device.poll(denied).tokenError.error == "access_denied")
        #expect(try await device.poll(denied, by: test.lightbox).tokenError.error == "invalid_grant")

        let (ignored, approved) = (try await device.codes(), try await device.codes())
        _ = try await browser.answer(approved)
        test.clock.advance(by: 600)
        for late in [ignored, approved] { #expect(try await device.poll(late).tokenError.error == "expired_token") }
        let unknown = TestDevice.Codes(deviceCode: "unknown")
        #expect(try await device.poll(unknown).tokenError.error == "invalid_grant")
    }

    @Test func `a device code redeemed twice revokes the tokens`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var browser = device.test.browser()
        _ = try await browser.answer(codes)
        let tokens = try await device.poll(codes).tokenResponse
        let grantID = try #require(
            try await IssuedTokens(device.test).verified(tokens.accessToken).grantID.flatMap(GrantIdentifier.init))
        // Another client cannot revoke it.
        #expect(try await device.poll(codes, by: device.test.lightbox).tokenError.error == "invalid_grant")
        #expect(try await device.test.store.grant(grantID)?.revokedAt == nil)
        #expect(try await device.poll(codes).tokenError.error == "invalid_grant")
        #expect(try await device.test.store.grant(grantID)?.revokedAt != nil)
    }

    @Test func `of ten polls at once at most one gets tokens`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var browser = device.test.browser()
        _ = try await browser.answer(codes)
        let granted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 { group.addTask { await device.poll(codes).status == .ok } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(granted == 1)
    }

    @Test func `a device that sent a challenge needs the verifier, and five wrong ones invalidate the code`()
        async throws
    {
        let device = try await TestDevice(try await TestServer())
        var browser = device.test.browser()
        let codes = try await device.codes()
        _ = try await browser.answer(codes)
        #expect(try await device.poll(codes, pkce: false).tokenError.error == "invalid_grant")
        for _ in 0..<5 {
            #expect(try await device.poll(codes, verifier: CodeVerifier()).tokenError.error == "invalid_grant")
        }
        #expect(try await device.poll(codes).tokenError.error == "invalid_grant")
        let plain = try await device.codes(pkce: false)
        _ = try await browser.answer(plain)
        #expect(try await device.poll(plain).tokenError.error == "invalid_grant")
        #expect(await device.poll(plain, pkce: false).status == .ok)
    }

    /// An event between the approval and the poll.
    enum Event: CaseIterable { case signOut, everywhere, password, otherPassword, disabled, idle, clientDeleted }

    // A device code dies with the session that approved it.
    @Test(arguments: Event.allCases)
    func `a device gets no tokens after the session of the approval has ended`(event: Event) async throws {
        let device = try await TestDevice(try await TestServer { $0.sessionIdleLifetime = 300 })
        let (test, codes) = (device.test, try await device.codes())
        var browser = test.browser()
        _ = try await browser.answer(codes)
        let session = try #require(try await test.store.sessions(of: test.alice.id).first)
        switch event {
        case .signOut: #expect(try await test.store.endSession(session.digest, at: test.clock.now))
        case .everywhere:
            _ = try await test.store.signOutEverywhere(test.alice.id, except: nil, at: test.clock.now)
        case .password, .otherPassword:
            let outcome = try await test.store.changePassword(
                of: test.alice.id, from: test.alice.passwordHash, to: PasswordHash(encoded: "other"),
                keeping: event == .password ? session.digest : nil, at: test.clock.now)
            #expect(outcome == .changed)
        case .disabled:
            let outcome = try await test.store.disableUser(test.alice.id, at: test.clock.now, recording: [])
            #expect(outcome == .changed)
        case .idle: test.clock.advance(by: 301)
        case .clientDeleted: #expect(try await test.store.removeClient(device.client.id))
        }
        let error = try await device.poll(codes).tokenError.error
        #expect(error == (event == .clientDeleted ? "invalid_client" : "invalid_grant"))
    }

    @Test func `a client of another type is refused, and a request without device_code is invalid`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        let page = try await device.test.register(
            "Gallery", type: .singlePage, redirectURIs: ["https://gallery.example.com/cb"])
        #expect(try await device.poll(codes, by: page).tokenError.error == "unauthorized_client")
        let form = FormParameters([
            "grant_type": TokenRequest.DeviceCodeExchange.grantType, "client_id": device.client.id.rawValue,
        ])
        #expect(try await device.test.redeem(form).tokenError.error == "invalid_request")
    }

    // An authorization code is no device_code, and a device_code no authorization code.
    @Test func `a device code cannot be redeemed as an authorization code`() async throws {
        let test = try await TestServer()
        let device = TestDevice(test, client: test.lightbox)
        let codes = try await device.codes()
        var browser = test.browser()
        _ = try await browser.answer(codes)
        let form = FormParameters([
            "grant_type": "authorization_code", "client_id": test.lightbox.id.rawValue, "code": codes.deviceCode,
            "code_verifier": device.verifier.exposed,
        ])
        #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
        #expect(await device.poll(codes).status == .ok)
    }
}

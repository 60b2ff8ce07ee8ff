import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// `/admin/keys`, on which administrators see, rotate and withdraw signing keys.
struct SigningKeyPageTests {
    private static let rotation = "/admin/keys/rotate?algorithm=ES256"

    private static func published(by test: TestServer) async throws -> [KeyIdentifier] {
        try JSONWebKeySet(parsing: try await test.send(.get, to: .keySet).json).keys.map(\.id)
    }

    private static func signing(_ test: TestServer) async throws -> SealedSigningKey {
        try #require(try await test.store.signingKeys().last { $0.algorithm == .es256 && $0.replacedAt == nil })
    }

    private static func form(_ page: ChangeKeyPage, beginning: String? = nil) -> FormParameters {
        var form = FormParameters(["ticket": page.ticket, "current": page.key.id])
        form.append("beginning", ifPresent: beginning)
        return form
    }

    private static func userInfo(_ token: AccessToken, at test: TestServer) async -> HTTPResponse.Status {
        await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(token.exposed)"]).status
    }

    @Test func `the list says what each key signs and until when its tokens are valid`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let former = try await Self.signing(test)
        let form = try await administrator.browser.open(Self.rotation).changeKeyPage
        #expect(form.beginning?.choices.first { $0.isChosen }?.value == "notice")
        let list = try await administrator.browser.submit(Self.form(form, beginning: "notice"), to: form.action)
            .keysPage
        #expect(list.notice != nil && list.rows.count == KeyRing.algorithmsFromStart.count + 1)
        let replaced = try #require(list.rows.first { $0.id == former.id.rawValue })
        #expect(replaced.isSigning && replaced.rotatePath == nil)
        #expect(replaced.uses == ["access tokens", "ID tokens of one app"])
        #expect(replaced.tokens.hasPrefix("Valid until"))
        let next = try #require(list.rows.first { $0.state.hasPrefix("Published") })
        #expect(next.rotatePath != nil && next.tokens.hasPrefix("Valid as long as it signs"))
        let unused = try #require(list.rows.first { $0.algorithm == "EdDSA" })
        #expect(unused.uses == ["nothing"])

        test.clock.advance(by: SigningKeyLifecycle.notice + 3600)
        let later = try await administrator.browser.open("/admin/keys").keysPage
        let retired = try #require(later.rows.first { $0.id == former.id.rawValue })
        #expect(retired.tokens == "All have expired" && retired.uses == ["tokens issued before"])
    }

    // SEC-887
    @Test func `of two rotations at the same time, the second changes nothing and says so`() async throws {
        let test = try await TestServer()
        var (first, second) = (
            try await Developer("ada", of: test, role: .administrator),
            try await Developer("grace", of: test, role: .administrator)
        )
        let pages = [
            try await first.browser.open(Self.rotation).changeKeyPage,
            try await second.browser.open(Self.rotation).changeKeyPage,
        ]
        _ = try await first.browser.submit(Self.form(pages[0], beginning: "now"), to: pages[0].action).keysPage
        let made = try await Self.signing(test)
        let reply = try await second.browser.submit(Self.form(pages[1], beginning: "now"), to: pages[1].action)
        #expect(reply.status == .conflict)
        let again = try reply.changeKeyPage
        #expect(again.problems.count == 1 && again.key.id == made.id.rawValue)
        #expect(try await Self.signing(test) == made)
        let events = try await test.store.audit(AuditQuery(kind: .signingKey)).map(\.event)
        #expect(events.map(\.detail) == ["ES256 rotated; the new key is \(made.id)"])
        #expect(events.first?.userID == (try await test.store.userID(named: try #require(Username("ada")))))
    }

    // SEC-888
    @Test func `a withdrawn key leaves the key set, and its tokens are refused while its successor signs`()
        async throws
    {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let former = try await Self.signing(test)
        let tokens = try await Attempt(test, for: "openid").tokens()
        #expect(await Self.userInfo(tokens.accessToken, at: test) == .ok)
        // A planned successor does not sign yet, so the key is still the one that signs.
        let rotation = try await administrator.browser.open(Self.rotation).changeKeyPage
        _ = try await administrator.browser.submit(Self.form(rotation, beginning: "notice"), to: rotation.action)
        let page = try await administrator.browser.open("/admin/keys/withdraw?key=\(former.id)").changeKeyPage
        #expect(page.effects.first?.contains("3600") == true && page.effects.count == 3)
        let list = try await administrator.browser.submit(Self.form(page), to: page.action).keysPage
        #expect(list.notice != nil && !list.rows.contains { $0.id == former.id.rawValue })
        #expect(try await !Self.published(by: test).contains(former.id))
        #expect(await Self.userInfo(tokens.accessToken, at: test) == .unauthorized)
        let new = try await Attempt(test, for: "openid").tokens()
        #expect(await Self.userInfo(new.accessToken, at: test) == .ok)

        let repeated = try await administrator.browser.submit(Self.form(page), to: page.action).keysPage
        #expect(repeated.notice == "It was removed already.")
        let details = try await test.store.audit(AuditQuery(kind: .signingKey)).compactMap(\.event.detail)
        #expect(details.count { $0 == "ES256: withdrew the key \(former.id)" } == 1)
        #expect(try await administrator.browser.open("/admin/keys/withdraw?key=\(former.id)").status == .notFound)
    }

    @Test func `a retired key is withdrawn without a rotation, and says how long its tokens were valid`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let former = try await Self.signing(test)
        let rotation = try await administrator.browser.open(Self.rotation).changeKeyPage
        _ = try await administrator.browser.submit(Self.form(rotation, beginning: "now"), to: rotation.action)
        let current = try await Self.signing(test)
        test.clock.advance(by: 600)
        let page = try await administrator.browser.open("/admin/keys/withdraw?key=\(former.id)").changeKeyPage
        #expect(page.effects.first?.contains("3000") == true && page.effects.count == 2)
        _ = try await administrator.browser.submit(Self.form(page), to: page.action).keysPage
        #expect(try await Self.signing(test) == current)
        #expect(try await !test.store.signingKeys().contains { $0.id == former.id })
    }

    // SEC-887
    @Test func `other users find no page about the server, and a change needs a recent sign-in and its ticket`()
        async throws
    {
        let test = try await TestServer(reporter: ScriptedInstallation(), mailSender: MailRecorder())
        var administrator = try await Developer("ada", of: test, role: .administrator)
        var developer = try await Developer("dora", of: test)
        let key = try await Self.signing(test)
        let changes = [
            Self.rotation, "/admin/keys/withdraw?key=\(key.id)", "/admin/server/certificate",
            "/admin/registration-tokens", "/admin/mail/test",
        ]
        let pages = ["/admin/keys", "/admin/settings", "/admin/server"]
        for path in pages + changes {
            #expect(try await developer.browser.open(path).status == .notFound, "\(path)")
            #expect(try await administrator.browser.open(path).status == .ok, "\(path)")
        }
        let page = try await administrator.browser.open(Self.rotation).changeKeyPage
        let forged = Self.form(page, beginning: "now").setting("ticket", to: page.console.signOutTicket)
        #expect(try await administrator.browser.submit(forged, to: page.action).status == .forbidden)
        test.clock.advance(by: 3700)
        for path in pages { #expect(try await administrator.browser.send(.get, to: path).status == .ok, "\(path)") }
        for path in changes {
            #expect(try await administrator.browser.send(.get, to: path).status == .seeOther, "\(path)")
        }
        let late = try await administrator.browser.send(
            .post, to: page.action, form: Self.form(page, beginning: "now"))
        #expect(late.status == .seeOther)
        #expect(try await Self.signing(test) == key)
    }
}

import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The refresh token policies that administrators choose, with the rules of the command line.
struct RefreshPolicyTests {
    /// An administrator on the policy page of a client.
    private struct Decision {
        var administrator: Developer
        let client: RegisteredClient

        init(_ type: ClientType, _ test: TestServer) async throws {
            administrator = try await Developer("ada", of: test, role: .administrator)
            client = try await test.register("Stay", type: type, redirectURIs: ["https://stay.example/cb"])
        }

        mutating func page() async throws -> PolicyPage {
            try await administrator.browser.open("/apps/\(client.id)/policy").policyPage
        }

        mutating func send(_ changes: KeyValuePairs<String, String>) async throws -> Reply {
            let page = try await page()
            var form = FormParameters([
                "ticket": page.ticket, "revision": String(page.revision), "pkce": "s256",
                "refresh_tokens": "offline-access", "web_views": "warn", "id_token_signed_response_alg": "ES256",
                "subject_type": "public",
            ])
            for (name, value) in changes { form = form.setting(name, to: value) }
            return try await administrator.browser.submit(form, to: page.action)
        }

        func stored() async throws -> ClientPolicy {
            try #require(try await administrator.test.store.client(client.id)).policy
        }
    }

    @Test func `rotation, grace period and lifetimes are saved, shown and reset`() async throws {
        var decision = try await Decision(.web, try await TestServer())
        let saved = try await decision.send([
            "refresh_tokens": "always", "rotate_refresh_tokens": "true", "refresh_grace_period": "0",
            "refresh_idle_lifetime": " 600 ", "refresh_lifetime": "63072000",
        ])
        let life = RefreshTokenLife(rotates: true, gracePeriod: 0, idleLifetime: 600, lifetime: 63_072_000)
        #expect(try await decision.stored().refreshTokens == .always)
        #expect(try await decision.stored().refreshTokenLife == life)
        let lines = try saved.clientPage.policy.map(\.value)
        for value in ["Yes", "0 seconds", "10 minutes", "730 days"] { #expect(lines.contains(value), "\(value)") }

        let fields = try #require(try await decision.page().refreshing)
        #expect(fields.rotation?.choices.filter(\.isChosen).map(\.value) == ["true"])
        #expect(
            [fields.gracePeriod, fields.idleLifetime, fields.lifetime].map(\.value) == ["0", "600", "63072000"])
        // A client that authenticates keeps its refresh token unless an administrator decides otherwise.
        #expect(fields.rotation?.choices.first?.label == "No (default for this type)")
        #expect(
            [fields.usualGracePeriod, fields.usualIdleLifetime, fields.usualLifetime]
                == ["60 seconds", "30 days", "180 days"])
        _ = try await decision.send([:])
        #expect(try await decision.stored().refreshTokenLife == RefreshTokenLife())
    }

    // Values just outside the limits.
    @Test(arguments: [
        ("refresh_grace_period", "601"), ("refresh_grace_period", "-1"), ("refresh_grace_period", "a minute"),
        ("refresh_idle_lifetime", "599"), ("refresh_idle_lifetime", "31536001"), ("refresh_lifetime", "599"),
        ("refresh_lifetime", "63072001"), ("refresh_lifetime", "99999999999999999999"),
        ("rotate_refresh_tokens", "perhaps"), ("refresh_tokens", "perhaps"),
    ])
    func `an invalid value is marked at its field and kept in the form`(field: String, value: String) async throws {
        var decision = try await Decision(.web, try await TestServer())
        let before = try await decision.stored()
        let reply = try await decision.send([field: value])
        #expect(reply.status == .badRequest)
        let page = try reply.policyPage
        #expect(page.problems.map(\.field) == [field])
        let refreshing = try #require(page.refreshing)
        let marked = [refreshing.gracePeriod, refreshing.idleLifetime, refreshing.lifetime].filter { $0.problem != nil }
        let isTime = field != "rotate_refresh_tokens" && field != "refresh_tokens"
        #expect(marked.map(\.name) == (isTime ? [field] : []))
        #expect(marked.map(\.value) == (isTime ? [value] : []))
        if isTime { #expect(marked.first?.problem?.hasPrefix("Enter ") == true) }
        #expect(try await decision.stored() == before)
    }

    // RFC 9700 §2.2.2
    @Test(arguments: [ClientType.native, .singlePage, .device])
    func `a public client cannot keep its refresh tokens`(type: ClientType) async throws {
        var decision = try await Decision(type, try await TestServer())
        #expect(try #require(try await decision.page().refreshing).rotation == nil)
        let reply = try await decision.send(["rotate_refresh_tokens": "false"])
        #expect(reply.status == .badRequest)
        #expect(try reply.policyPage.refreshing?.rotation?.problem?.contains("has no secret") == true)
        #expect(try await decision.stored().refreshTokenLife.rotates == nil)
        #expect(try reply.policyPage.refreshing?.rotation?.choices.first?.label == "Yes (default for this type)")
    }

    // The fields are hidden then, so their contents do not prevent saving.
    @Test func `without refresh tokens their lifetimes stay unchanged`() async throws {
        var decision = try await Decision(.web, try await TestServer())
        _ = try await decision.send(["refresh_lifetime": "86400"])
        _ = try await decision.send(["refresh_tokens": "never", "refresh_lifetime": "soon"]).clientPage
        #expect(try await decision.stored().refreshTokens == .never)
        #expect(try await decision.stored().refreshTokenLife.lifetime == 86_400)
    }

    @Test func `only administrators change the policy`() async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        let path = "/apps/\(client.id)/policy"
        #expect(try await owner.browser.open(path).status == .notFound)
        let form = FormParameters(["refresh_tokens": "always", "refresh_lifetime": "63072000"])
        #expect(try await owner.browser.submit(form, to: path).status == .notFound)
        #expect(try await owner.browser.open("/apps/\(client.id)").clientPage.paths.policy == nil)
        #expect(try await test.store.client(client.id)?.policy == client.policy)
    }

    // A service acts for no user, so it needs no refresh tokens.
    @Test func `a service has no refresh token policy`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let robot = try await test.register("Robot", type: .service, redirectURIs: [])
        let page = try await administrator.browser.open("/apps/\(robot.id)/policy").policyPage
        #expect(page.refreshTokens == nil && page.refreshing == nil)
    }
}

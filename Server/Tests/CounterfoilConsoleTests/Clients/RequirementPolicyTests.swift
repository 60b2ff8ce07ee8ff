import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

/// The requirements that an administrator sets for the requests and the tokens of a client.
struct RequirementPolicyTests {
    // RFC 9126 §6, RFC 9449 §5.2
    @Test func `pushed requests and bound tokens are required, shown and allowed again`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let client = try await test.register("Album", redirectURIs: ["http://127.0.0.1/callback"])
        for isRequired in [true, false] {
            let page = try await administrator.browser.open("/apps/\(client.id)/policy").policyPage
            #expect(page.requirePushedRequests?.isOn == !isRequired)
            #expect(page.requireBoundTokens.isOn == !isRequired)
            var form = FormParameters([
                "ticket": page.ticket, "revision": String(page.revision), "pkce": "s256",
                "refresh_tokens": "offline-access", "web_views": "warn", "id_token_signed_response_alg": "ES256",
                "subject_type": "public",
            ])
            if isRequired {
                form.append("require_pushed_authorization_requests", "on")
                form.append("dpop_bound_access_tokens", "on")
            }
            let saved = try await administrator.browser.submit(form, to: page.action).clientPage
            let policy = try #require(try await test.store.client(client.id)).policy
            #expect(policy.requiresPushedRequests == isRequired)
            #expect(policy.requiresBoundTokens == isRequired)
            for name in ["Require pushed requests", "Require bound tokens"] {
                #expect(saved.policy.first { $0.name == name }?.value == (isRequired ? "Yes" : "No"), "\(name)")
            }
        }
    }

    @Test func `bound tokens are required of a service, which pushes no requests`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let service = try await test.addService().client
        let page = try await administrator.browser.open("/apps/\(service.id)/policy").policyPage
        #expect(page.requirePushedRequests == nil)
        let form = FormParameters([
            "ticket": page.ticket, "revision": String(page.revision), "machine_scope": "photos.read",
            "dpop_bound_access_tokens": "on", "require_pushed_authorization_requests": "on",
        ])
        _ = try await administrator.browser.submit(form, to: page.action).clientPage
        let policy = try #require(try await test.store.client(service.id)).policy
        #expect(policy.requiresBoundTokens)
        #expect(!policy.requiresPushedRequests)
    }
}

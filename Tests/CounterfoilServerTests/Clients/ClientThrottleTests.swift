import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import Foundation
import HTTPTypes
import Testing

/// Guessing secrets.
struct ClientThrottleTests {
    private static let form = FormParameters(["grant_type": "client_credentials"])

    private static func ask(
        _ service: TestApplication, _ secret: ClientSecret, at endpoint: Endpoint = .token, source: String = "192.0.2.1"
    ) async -> Reply {
        await service.test.post(
            form.adding("token", "x"), to: endpoint, fields: .basic(service.client.id, secret), source: source)
    }

    // R172, TK-37: after so many wrong ones even the right one waits, at every endpoint, and not for long.
    @Test func `who guesses has to wait`() async throws {
        let service = try await TestServer().addService()
        var statuses: [HTTPResponse.Status: Int] = [:]
        for _ in 0..<1000 { statuses[await Self.ask(service, ClientSecret()).status, default: 0] += 1 }
        #expect(statuses == [.unauthorized: 50, .tooManyRequests: 950])
        for endpoint in [Endpoint.token, .revocation, .introspection] {
            let reply = await Self.ask(service, service.secret, at: endpoint)
            #expect(reply.status == .tooManyRequests)
            #expect(reply.fields[.retryAfter] == "60")
            #expect(try reply.tokenError.error == "temporarily_unavailable")
        }
        service.test.clock.advance(by: 61)
        #expect(await Self.ask(service, service.secret).status == .ok)
    }

    // R172: the noise of one keeps no other from going on.
    @Test func `an application goes on at another address, and another one at the same`() async throws {
        let service = try await TestServer().addService()
        let other = try await service.test.addService("Daily")
        for _ in 0..<60 { _ = await Self.ask(service, ClientSecret()) }
        #expect(await Self.ask(service, service.secret, source: "198.51.100.7").status == .ok)
        #expect(await Self.ask(other, other.secret).status == .ok)
    }

    // R172: names are no way around it.
    @Test func `who tries many names has to wait too`() async throws {
        let service = try await TestServer().addService()
        for number in 0..<200 {
            let id = try #require(ClientIdentifier("app_\(number)"))
            _ = await service.test.redeem(Self.form, fields: .basic(id, ClientSecret()))
        }
        #expect(await Self.ask(service, service.secret).status == .tooManyRequests)
        #expect(await Self.ask(service, service.secret, source: "198.51.100.7").status == .ok)
    }

    // R172: only failures count.
    @Test func `an application that is right is never made to wait`() async throws {
        let service = try await TestServer().addService()
        for _ in 0..<300 { #expect(await Self.ask(service, service.secret).status == .ok) }
    }

    // R172: who presents nothing guesses nothing, whatever others do at the same address.
    @Test func `a public application is not kept waiting by what others try`() async throws {
        let service = try await TestServer().addService()
        for number in 0..<250 {
            let id = try #require(ClientIdentifier("app_\(number)"))
            _ = await service.test.redeem(Self.form, fields: .basic(id, ClientSecret()))
        }
        #expect(try await Attempt(service.test).tokens().isBearer)
    }

    // R172, R235: an API that guesses is one that guesses.
    @Test func `guessing the secret of an API is throttled as well`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI()
        for _ in 0..<50 {
            let reply = await api.introspect("x", fields: .basic(api.resource.clientID, ClientSecret()))
            #expect(reply.status == .unauthorized)
        }
        #expect(await api.introspect("x").status == .tooManyRequests)
    }

    // R172: what was refused is noted, with no secret.
    @Test func `a failed authentication is noted`() async throws {
        let service = try await TestServer().addService()
        let guess = ClientSecret()
        _ = await Self.ask(service, guess)
        let entry = try #require(try await service.test.store.audit(AuditQuery(kind: .clientAuthentication)).first)
        #expect(entry.event.outcome == .refused)
        #expect(entry.event.clientID == service.client.id)
        #expect(entry.event.source == "192.0.2.1")
        #expect(entry.event.detail?.contains(guess.exposed) == false)
    }
}

import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Throttling of guesses at client secrets.
struct ClientThrottleTests {
    private static let form = FormParameters(["grant_type": "client_credentials"])

    private static func ask(
        _ service: TestClient, _ secret: ClientSecret, at endpoint: Endpoint = .token, source: String = "192.0.2.1"
    ) async -> Reply {
        await service.test.post(
            form.adding("token", "x"), to: endpoint, fields: .basic(service.client.id, secret), source: source)
    }

    // After too many wrong secrets the next is throttled at every endpoint for a short time;
    // the right one is accepted.
    @Test func `guesses at a secret are throttled`() async throws {
        let service = try await TestServer().addService()
        var statuses: [HTTPResponse.Status: Int] = [:]
        for _ in 0..<1000 { statuses[await Self.ask(service, ClientSecret()).status, default: 0] += 1 }
        #expect(statuses == [.unauthorized: 50, .tooManyRequests: 950])
        for endpoint in [Endpoint.token, .revocation, .introspection] {
            let reply = await Self.ask(service, ClientSecret(), at: endpoint)
            #expect(reply.status == .tooManyRequests)
            #expect(reply.fields[.retryAfter] == "60")
            #expect(try reply.tokenError.error == "temporarily_unavailable")
            #expect(await Self.ask(service, service.secret, at: endpoint).status == .ok)
        }
        service.test.clock.advance(by: 61)
        #expect(await Self.ask(service, ClientSecret()).status == .unauthorized)
    }

    // Throttling one source does not throttle the client elsewhere.
    @Test func `the client is not throttled at another address, nor another client at the same one`() async throws {
        let service = try await TestServer().addService()
        let other = try await service.test.addService("Daily")
        for _ in 0..<60 { _ = await Self.ask(service, ClientSecret()) }
        #expect(await Self.ask(service, ClientSecret(), source: "198.51.100.7").status == .unauthorized)
        #expect(await Self.ask(other, ClientSecret()).status == .unauthorized)
    }

    // Using many client identifiers does not avoid the limit.
    @Test func `guesses with many client identifiers are throttled too`() async throws {
        let service = try await TestServer().addService()
        for number in 0..<200 {
            let id = try #require(ClientIdentifier("app_\(number)"))
            _ = await service.test.redeem(Self.form, fields: .basic(id, ClientSecret()))
        }
        #expect(await Self.ask(service, ClientSecret()).status == .tooManyRequests)
        #expect(await Self.ask(service, ClientSecret(), source: "198.51.100.7").status == .unauthorized)
        #expect(await Self.ask(service, service.secret).status == .ok)
    }

    // Only failures count.
    @Test func `a client with the right secret is never throttled`() async throws {
        let service = try await TestServer().addService()
        for _ in 0..<300 { #expect(await Self.ask(service, service.secret).status == .ok) }
    }

    // A request without a secret is no guess, whatever other clients send from the same address.
    @Test func `a public client is not throttled by the guesses of others`() async throws {
        let service = try await TestServer().addService()
        for number in 0..<250 {
            let id = try #require(ClientIdentifier("app_\(number)"))
            _ = await service.test.redeem(Self.form, fields: .basic(id, ClientSecret()))
        }
        #expect(try await Attempt(service.test).tokens().isBearer)
    }

    // Guesses at the secret of an API are throttled as well.
    @Test func `guessing the secret of an API is throttled as well`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI()
        for _ in 0..<50 {
            let reply = await api.introspect("x", fields: .basic(api.resource.clientID, ClientSecret()))
            #expect(reply.status == .unauthorized)
        }
        let reply = await api.introspect("x", fields: .basic(api.resource.clientID, ClientSecret()))
        #expect(reply.status == .tooManyRequests)
        #expect(await api.introspect("x").status == .ok)
    }

    // A failed authentication is logged without the secret.
    @Test func `a failed authentication is logged`() async throws {
        let service = try await TestServer().addService()
        let guess = ClientSecret()
        _ = await Self.ask(service, guess)
        let entry = try #require(try await service.test.store.audit(AuditQuery(kind: .clientAuthentication)).first)
        #expect(entry.event.outcome == .refused)
        #expect(entry.event.clientID == service.client.id)
        #expect(entry.event.source == "192.0.2.1")
        #expect(entry.event.detail?.contains(guess.exposed) == false)
    }

    // The revocation endpoint has the same limit, whichever client is named.
    @Test func `guessing at the revocation endpoint is throttled as well`() async throws {
        let service = try await TestServer().addService()
        for _ in 0..<50 { #expect(await Self.ask(service, ClientSecret(), at: .revocation).status == .unauthorized) }
        let reply = await Self.ask(service, ClientSecret(), at: .revocation)
        #expect(reply.status == .tooManyRequests)
        #expect(reply.fields[.retryAfter] == "60")
        for number in 0..<150 {
            let id = try #require(ClientIdentifier("app_\(number)"))
            _ = await service.test.post(
                FormParameters(["token": "x"]), to: .revocation, fields: .basic(id, ClientSecret()))
        }
        let api = try await service.test.addAPI()
        let guess = await api.introspect("x", fields: .basic(api.resource.clientID, ClientSecret()))
        #expect(guess.status == .tooManyRequests)
    }

    // Tokens with an invalid signature are refused, and throttled after too many; valid tokens are still accepted.
    @Test func `forged access tokens are throttled at UserInfo, and valid ones are not`() async throws {
        let party = try await RelyingParty()
        let genuine = try await party.tokens().accessToken
        let forged = try #require(AccessToken(String(genuine.exposed.dropLast(4)) + "AAAA"))
        func ask(_ token: AccessToken, source: String = "192.0.2.1") async -> Reply {
            await party.test.send(
                .get, to: .userInfo, fields: [.authorization: "Bearer \(token.exposed)"], source: source)
        }
        for _ in 0..<200 { #expect(await ask(forged).status == .unauthorized) }
        let reply = await ask(forged)
        #expect(reply.status == .tooManyRequests)
        #expect(reply.fields[.retryAfter] == "60")
        #expect(await ask(genuine).status == .ok)
        #expect(await ask(forged, source: "198.51.100.7").status == .unauthorized)
        let event = try #require(try await party.test.store.audit(AuditQuery(kind: .throttled)).first).event
        #expect(event.source == "192.0.2.1")
        #expect(event.explanation == "access tokens")
        party.test.clock.advance(by: 61)
        #expect(await ask(forged).status == .unauthorized)
    }

    // An expired token was issued to its holder: a client that is late does not guess.
    @Test func `expired tokens are not throttled`() async throws {
        let party = try await RelyingParty()
        let token = try await party.tokens().accessToken
        party.test.clock.advance(by: 4000)
        for _ in 0..<250 { #expect(await party.userInfo(token).status == .unauthorized) }
    }

    // Throttling is logged, at a limited rate that does not fill the disk.
    @Test func `throttling is logged at a limited rate`() async throws {
        let service = try await TestServer().addService()
        for _ in 0..<300 { _ = await Self.ask(service, ClientSecret()) }
        let recorded = try await service.test.store.audit(AuditQuery(kind: .throttled)).map(\.event)
        // 250 requests were throttled; one address gets sixty events of a kind in a minute.
        #expect(recorded.count == 60)
        #expect(recorded.allSatisfy { $0.outcome == .refused && $0.clientID == service.client.id })
    }
}

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

    // SEC-55
    // R172, TK-37: after so many wrong ones the next is told to wait, at every endpoint, and not for long; the right one is right.
    @Test func `who guesses has to wait`() async throws {
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

    // SEC-55
    // The noise of one keeps no other from going on.
    @Test func `an application goes on at another address, and another one at the same`() async throws {
        let service = try await TestServer().addService()
        let other = try await service.test.addService("Daily")
        for _ in 0..<60 { _ = await Self.ask(service, ClientSecret()) }
        #expect(await Self.ask(service, ClientSecret(), source: "198.51.100.7").status == .unauthorized)
        #expect(await Self.ask(other, ClientSecret()).status == .unauthorized)
    }

    // SEC-55
    // Names are no way around it.
    @Test func `who tries many names has to wait too`() async throws {
        let service = try await TestServer().addService()
        for number in 0..<200 {
            let id = try #require(ClientIdentifier("app_\(number)"))
            _ = await service.test.redeem(Self.form, fields: .basic(id, ClientSecret()))
        }
        #expect(await Self.ask(service, ClientSecret()).status == .tooManyRequests)
        #expect(await Self.ask(service, ClientSecret(), source: "198.51.100.7").status == .unauthorized)
        #expect(await Self.ask(service, service.secret).status == .ok)
    }

    // R172: only failures count.
    @Test func `an application that is right is never made to wait`() async throws {
        let service = try await TestServer().addService()
        for _ in 0..<300 { #expect(await Self.ask(service, service.secret).status == .ok) }
    }

    // Who presents nothing guesses nothing, whatever others do at the same address.
    @Test func `a public application is not kept waiting by what others try`() async throws {
        let service = try await TestServer().addService()
        for number in 0..<250 {
            let id = try #require(ClientIdentifier("app_\(number)"))
            _ = await service.test.redeem(Self.form, fields: .basic(id, ClientSecret()))
        }
        #expect(try await Attempt(service.test).tokens().isBearer)
    }

    // R172: an API that guesses is one that guesses.
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

    // What was refused is noted, with no secret.
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

    // The same at the revocation endpoint, whoever is named there.
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

    // What nobody here has signed is refused, and after so many with a word to wait; what is genuine is looked at.
    @Test func `who makes up access tokens has to wait at UserInfo, and nobody else there`() async throws {
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
        #expect(event.detail == "access tokens")
        party.test.clock.advance(by: 61)
        #expect(await ask(forged).status == .unauthorized)
    }

    // A token that is only over was given to whoever shows it: an application that is late is not one that guesses.
    @Test func `a token that has expired makes nobody wait`() async throws {
        let party = try await RelyingParty()
        let token = try await party.tokens().accessToken
        party.test.clock.advance(by: 4000)
        for _ in 0..<250 { #expect(await party.userInfo(token).status == .unauthorized) }
    }

    // Who was made to wait is noted, and nobody fills a disk by it.
    @Test func `waiting is noted, so many times a minute`() async throws {
        let service = try await TestServer().addService()
        for _ in 0..<300 { _ = await Self.ask(service, ClientSecret()) }
        let noted = try await service.test.store.audit(AuditQuery(kind: .throttled)).map(\.event)
        // 250 were not looked at; one address has sixty events of a kind in a minute.
        #expect(noted.count == 60)
        #expect(noted.allSatisfy { $0.outcome == .refused && $0.clientID == service.client.id })
    }
}

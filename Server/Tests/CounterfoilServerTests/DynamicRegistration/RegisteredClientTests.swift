import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

@Suite("The registration that a client manages")
struct RegisteredClientTests {
    private static var metadata: [String: Any] {
        [
            "redirect_uris": [RegistrationDesk.callback], "client_name": "Darkroom",
            "contacts": ["ops@rp.example.net"], "tos_uri": "https://rp.example.net/terms",
        ]
    }

    private static func client() async throws -> Registrant {
        try await RegistrationDesk().registered(metadata)
    }

    // RFC 7592 §2.1
    @Test func `a client reads its registration, without its secret`() async throws {
        let client = try await Self.client()
        let reply = try await client.read()
        #expect(reply.status == .ok)
        #expect(reply.fields[.cacheControl] == "no-store")
        let read = try reply.members
        for (name, value) in client.members where !name.hasPrefix("client_secret") {
            #expect((read[name] as? NSObject) == (value as? NSObject), "\(name)")
        }
        #expect(read["client_secret"] == nil && read["client_secret_expires_at"] == nil)
    }

    // RFC 7592 §2
    @Test func `a request without the token of the client gets 401 and changes nothing`() async throws {
        let client = try await Self.client()
        let other = try await client.desk.registered(Self.metadata)
        let before = try await client.stored
        let body = #"{"client_id": "\#(client.id)", "redirect_uris": ["https://evil.example/"]}"#
        for method in [HTTPRequest.Method.get, .put, .delete] {
            let text = method == .put ? body : ""
            for token in [other.token, "invented", client.secret] {
                let reply = try await client.desk.send(method, to: client.url, text, token: token)
                #expect(reply.status == .unauthorized)
                #expect(try reply.members["error"] as? String == "invalid_token")
                #expect(reply.fields[.wwwAuthenticate]?.hasPrefix(#"Bearer error="invalid_token""#) == true)
            }
            for address in [client.url, client.url + "?access_token=\(client.token)"] {
                let reply = try await client.desk.send(method, to: address, text)
                #expect(reply.status == .unauthorized)
                #expect(reply.fields[.wwwAuthenticate] == #"Bearer realm="registration""#)
            }
            let basic = try await client.desk.send(
                method, to: client.url, text, fields: [.authorization: client.basic])
            #expect(basic.status == .unauthorized)
        }
        #expect(try await client.stored == before)
    }

    // RFC 7592 §2: 401 and not 404.
    @Test func `an unknown client and one that a person registered get 401`() async throws {
        let desk = try await RegistrationDesk()
        let client = try await desk.registered(Self.metadata)
        for id in ["app_unknown", desk.test.lightbox.id.rawValue] {
            let reply = try await desk.send(.get, to: "/oauth2/register/\(id)", token: client.token)
            #expect(reply.status == .unauthorized)
        }
        #expect(try await client.delete().status == .noContent)
        #expect(try await client.read().status == .unauthorized)
    }

    // RFC 6749 §2.3.1
    @Test func `too many wrong tokens from one address are refused without a check`() async throws {
        let client = try await Self.client()
        for _ in 0..<200 { #expect(try await client.read(token: "invented").status == .unauthorized) }
        #expect(try await client.read(token: "invented").status == .tooManyRequests)
        #expect(try await client.read().status == .ok)
    }

    // RFC 7592 §2.2
    @Test func `a change replaces the registration and deletes what it omits`() async throws {
        let client = try await Self.client()
        client.desk.test.clock.advance(by: 60)
        let reply = try await client.replace([
            "redirect_uris": ["https://rp.example.net/new"], "client_name": "Lightroom",
            "client_secret": try #require(client.secret),
        ])
        #expect(reply.status == .ok)
        let members = try reply.members
        #expect(members["redirect_uris"] as? [String] == ["https://rp.example.net/new"])
        #expect(members["client_name"] as? String == "Lightroom")
        #expect(members["contacts"] == nil && members["tos_uri"] == nil)
        #expect(members["client_id_issued_at"] as? Int == client.members["client_id_issued_at"] as? Int)
        #expect(members["registration_access_token"] as? String == client.token)
        #expect(members["client_secret"] == nil)
        #expect(try await client.read().members as NSDictionary == members as NSDictionary)
        let stored = try await client.registration()
        #expect(stored.presentation.termsURI == nil)
        #expect(stored.redirectURIs.map(\.rawValue) == ["https://rp.example.net/new"])
        // The secret stays valid.
        #expect(try await client.tokens(at: "https://rp.example.net/new").idToken != nil)
    }

    // RFC 7592 §2.2
    @Test(arguments: [
        (#""client_id": "app_other""#, "client_id"), (#""client_id": null"#, "client_id"),
        (#""registration_access_token": "x""#, "registration_access_token"),
        (#""registration_client_uri": "https://id.example.com/x""#, "registration_client_uri"),
        (#""client_secret_expires_at": 0"#, "client_secret_expires_at"),
        (#""client_id_issued_at": 0"#, "client_id_issued_at"),
        (#""client_secret": "chosen by the client""#, "cannot choose its client_secret"),
        (#""redirect_uris": ["javascript:alert(1)"]"#, "redirect_uris"),
        (#""redirect_uris": ["http://evil.example/"]"#, "redirect_uris"),
        (#""token_endpoint_auth_method": "none""#, "another type"),
        (#""application_type": "native""#, "another type"),
        (#""token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://rp.example.net/k""#, "another way"),
        (#""subject_type": "pairwise""#, "subject identifiers"),
    ])
    func `a change with a value that the client may not set is refused`(members: String, reason: String) async throws {
        let client = try await Self.client()
        let before = try await client.stored
        let sent = try #require(try JSONSerialization.jsonObject(with: Data("{\(members)}".utf8)) as? [String: Any])
        let reply = try await client.replace(Self.metadata.merging(sent) { _, sent in sent })
        #expect(reply.status == .badRequest)
        #expect(
            try reply.members["error"] as? String
                == (reason == "redirect_uris" ? "invalid_redirect_uri" : "invalid_client_metadata"))
        #expect(try #require(try reply.members["error_description"] as? String).contains(reason))
        #expect(try await client.stored == before)
    }

    // A decision of an administrator covers only the registration that the administrator saw.
    @Test func `a change keeps the settings of an administrator and ends the trust`() async throws {
        let client = try await Self.client()
        var policy = try await client.registration().policy
        policy.isVouchedFor = true
        policy.requiresPushedRequests = true
        try await client.desk.test.setPolicy(policy, of: client.id)
        #expect(try await client.replace(Self.metadata).status == .ok)
        #expect(try await client.stored?.policy.isVouchedFor == true)
        #expect(try await client.replace(["redirect_uris": ["https://rp.example.net/new"]]).status == .ok)
        #expect(try await client.stored?.policy.isVouchedFor == false)
        #expect(try await client.stored?.policy.requiresPushedRequests == true)
    }

    // The registration is older than the rule for hosts in names.
    @Test func `a change keeps a registered name with another host, and adds none`() async throws {
        let client = try await Self.client()
        let registered = try await client.registration()
        try await client.desk.test.change(registered) { $0.presentation.name = "Booking.com" }
        for (name, status) in [("Booking.com", HTTPResponse.Status.ok), ("ASP.NET sample", .badRequest)] {
            let reply = try await client.replace(Self.metadata.merging(["client_name": name]) { _, new in new })
            #expect(reply.status == status, "\(name)")
        }
    }

    @Test func `changes count for the limit of registrations`() async throws {
        let client = try await Self.client()
        for _ in 0..<49 { #expect(try await client.replace(Self.metadata).status == .ok) }
        #expect(try await client.replace(Self.metadata).status == .tooManyRequests)
        #expect(try await client.read().status == .ok)
    }

    // A lost update would leave a registration that no client sent.
    @Test func `a change at the same time as another one is refused`() async throws {
        let store = TestStore()
        let desk = try await RegistrationDesk(store: store)
        let client = try await desk.registered(Self.metadata)
        let first = try await client.registration()
        store.before(.updateClient) { _ = try? await store.updateClient(first, logo: .keep) }
        let reply = try await client.replace(Self.metadata)
        #expect(reply.status == .conflict)
        #expect(reply.fields[.retryAfter] == "1")
    }

    // RFC 7592 §2.3
    @Test func `a deletion ends the client, its secret, its grants and its tokens`() async throws {
        let client = try await RegistrationDesk().registered([
            "redirect_uris": [RegistrationDesk.callback], "grant_types": ["authorization_code", "refresh_token"],
        ])
        let test = client.desk.test
        let tokens = try await client.tokens(for: "openid offline_access")
        let attempt = try await client.attempt()
        let code = attempt.exchange(try await attempt.authorize().code)
        let userInfo = {
            await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"])
        }
        #expect(await userInfo().status == .ok)

        let reply = try await client.delete()
        #expect(reply.status == .noContent)
        guard case .none = reply.content else { throw UnexpectedBody() }
        #expect(try await client.stored == nil)
        #expect(try await test.store.clientSecrets(of: client.id).isEmpty)
        #expect(try await test.store.consent(of: test.alice.id, to: client.id) == nil)
        #expect(await userInfo().status == .unauthorized)
        #expect(
            try await test.redeem(code, fields: [.authorization: client.basic]).tokenError.error == "invalid_client")
        let refresh = FormParameters([
            "grant_type": "refresh_token", "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        let refused = await test.redeem(refresh, fields: [.authorization: client.basic])
        #expect(refused.status == .unauthorized)
        #expect(try refused.tokenError.error == "invalid_client")
        #expect(try await client.delete().status == .unauthorized)
    }

    private struct UnexpectedBody: Error {}
}

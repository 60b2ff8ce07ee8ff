import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The client credentials grant (RFC 6749 §4.4).
struct ClientCredentialsGrantTests {
    // A confidential client gets a token with itself as subject, and no claims of a user.
    @Test func `a service gets a token with itself as subject`() async throws {
        let test = try await TestServer()
        let service = try await test.addService(scope: "openid offline_access profile photos.read photos.write")
        let tokens = try await service.token()
        #expect(tokens.refreshToken == nil)
        #expect(tokens.idToken == nil)
        #expect(tokens.scope?.description == "photos.read photos.write")
        let access = try await IssuedTokens(test).verified(tokens.accessToken)
        #expect(access.subject == service.client.id.rawValue)
        #expect(access.clientID == service.client.id)
        #expect(access.grantID == nil)
        #expect(access.authTime == nil)
        #expect(try await service.token(["scope": "photos.read"]).scope?.description == "photos.read")
    }

    // No public client, and no client type with sign-ins.
    @Test(arguments: [ClientType.native, .singlePage, .device, .web])
    func `no other client type has this grant`(type: ClientType) async throws {
        let test = try await TestServer()
        let address = type == .native ? "http://127.0.0.1/callback" : "https://app.example.com/cb"
        let secret = ClientSecret()
        let client = try await test.register(
            "Darkroom", type: type, at: type == .device ? [] : [address], under: .standard(for: type),
            secret: type.isConfidential ? secret : nil)
        let form = FormParameters(["grant_type": "client_credentials", "client_id": client.id.rawValue])
        let reply = await test.redeem(form, fields: type.isConfidential ? .basic(client.id, secret) : [:])
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == "unauthorized_client")
    }

    // Only registered scopes, and none about a user.
    @Test(arguments: ["photos.delete", "photos.read photos.delete", "openid", "offline_access", "bad\"scope"])
    func `a service gets only its registered scopes`(scope: String) async throws {
        let test = try await TestServer()
        let service = try await test.addService(scope: "openid offline_access photos.read")
        let form = FormParameters(["grant_type": "client_credentials", "scope": scope])
        #expect(try await test.redeem(form, fields: service.fields).tokenError.error == "invalid_scope")
    }

    // For APIs that are registered here.
    @Test func `a service names the API of its token`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI()
        let service = try await test.addService(scope: "photos.read photos.delete")
        let named = try await service.token(["resource": api.resource.resource.rawValue]).accessToken
        #expect(try await api.sees(named.exposed))
        let other = try await service.token(["scope": "photos.delete"]).accessToken
        #expect(try await api.sees(other.exposed) == false)
        for resource in ["https://other.example.com", "https://photos.example.com/a", "no URI", "https://a.example#b"] {
            let form = FormParameters(["grant_type": "client_credentials", "resource": resource])
            #expect(try await test.redeem(form, fields: service.fields).tokenError.error == "invalid_target")
        }
    }

    // A client identifier alone is not enough.
    @Test func `a service must authenticate`() async throws {
        let test = try await TestServer()
        let service = try await test.addService()
        let form = FormParameters(["grant_type": "client_credentials", "client_id": service.client.id.rawValue])
        let reply = await test.redeem(form)
        #expect(reply.status == .unauthorized)
        #expect(try reply.tokenError.error == "invalid_client")
    }
}

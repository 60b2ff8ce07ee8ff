import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Identification of a public client at the token endpoint: by its `client_id`, never by a secret.
struct ClientAuthenticatorTests {
    private static func basic(_ text: String) -> HTTPFields {
        [.authorization: "Basic " + Data(text.utf8).base64EncodedString()]
    }

    /// Redeems a valid code with changes to the request, then unchanged, to prove that nothing was consumed.
    private static func refused(
        _ fields: HTTPFields = [:],
        _ change: (FormParameters) -> FormParameters = { $0 }
    ) async throws -> Reply {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let reply = await test.redeem(change(form), fields: fields)
        #expect(await test.redeem(form).status == .ok)
        return reply
    }

    // A secret that every copy of an app contains proves nothing.
    @Test(arguments: [("client_secret", "anything"), ("client_assertion", "e30.e30.e30")])
    func `a secret of a public client is refused`(name: String, value: String) async throws {
        let reply = try await Self.refused { $0.adding(name, value) }
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == "invalid_client")
    }

    @Test func `a secret in the Authorization field is refused with a challenge`() async throws {
        let reply = try await Self.refused(Self.basic("app_lightbox:secret"))
        #expect(reply.status == .unauthorized)
        #expect(try reply.tokenError.error == "invalid_client")
        #expect(try #require(reply.fields[.wwwAuthenticate]).hasPrefix("Basic realm="))
    }

    // Without a secret, the field is another form of `client_id`. RFC 9110 §11.4
    @Test(arguments: ["Basic", "basic", "BASIC", "Basic  "])
    func `the Authorization field may also name the client`(scheme: String) async throws {
        let test = try await TestServer()
        for inBody in [true, false] {
            let attempt = Attempt(test)
            let form = attempt.exchange(try await attempt.authorize().code)
            let credentials = Data("app_lightbox:".utf8).base64EncodedString()
            let reply = await test.redeem(
                inBody ? form : form.setting("client_id", to: nil),
                fields: [.authorization: "\(scheme) \(credentials)"]
            )
            #expect(reply.status == .ok)
        }
    }

    @Test(arguments: ["client_secret", "client_assertion"])
    func `two authentication methods at once are refused`(name: String) async throws {
        let reply = try await Self.refused(Self.basic("app_lightbox:")) { $0.adding(name, "x") }
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == "invalid_request")
    }

    @Test func `two different client identifiers are refused`() async throws {
        let reply = try await Self.refused(Self.basic("app_darkroom:"))
        #expect(try reply.tokenError.error == "invalid_request")
    }

    @Test(arguments: [
        "", "Basic", "Basic ", "Basic !!!", "Basic YXBw", "Basic YXBwX2xpZ2h0Ym94", "Bearer x", "Basic Og==",
        "Negotiate abc",
        "Basic YXBwX2xpZ2h0Ym94Og==x", "Basic " + String(repeating: "A", count: 100_000), "Basic JTpw", "Basic 4pi6",
    ])
    func `a malformed Authorization field is refused`(field: String) async throws {
        let reply = try await Self.refused([.authorization: field])
        #expect(reply.status == .unauthorized)
        #expect(try reply.tokenError.error == "invalid_client")
        #expect(reply.fields[.wwwAuthenticate] != nil)
    }

    @Test func `two Authorization fields are refused`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        var fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        fields.append(HTTPField(name: .authorization, value: "Basic YXBwX2xpZ2h0Ym94Og=="))
        fields.append(HTTPField(name: .authorization, value: "Basic YXBwX2xpZ2h0Ym94Og=="))
        let reply = await test.send(.post, to: .token, fields: fields, body: Array(form.encoded.utf8))
        #expect(reply.status == .unauthorized)
        #expect(await test.redeem(form).status == .ok)
    }
}

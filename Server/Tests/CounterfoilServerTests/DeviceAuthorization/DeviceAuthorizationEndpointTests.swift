import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The device authorization endpoint (RFC 8628 §3.1 and §3.2).
struct DeviceAuthorizationEndpointTests {
    @Test(arguments: ["https://id.example.com", "https://id.example.com/tenant1", "http://127.0.0.1:8080"])
    func `the response has the members of the standard`(issuer: String) async throws {
        let device = try await TestDevice(try await TestServer(issuer: issuer))
        let reply = await device.request()
        #expect(reply.status == .ok)
        #expect(reply.fields[.cacheControl] == "no-store")
        let members = try reply.members
        #expect(
            Set(members.keys) == [
                "device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval",
            ])
        let userCode = try #require(members["user_code"] as? String)
        #expect((members["device_code"] as? String)?.utf8.count == 43)
        #expect(members["verification_uri"] as? String == issuer + "/device")
        #expect(members["verification_uri_complete"] as? String == issuer + "/device?user_code=" + userCode)
        #expect(members["expires_in"] as? Int == 600)
        #expect(members["interval"] as? Int == 5)
    }

    @Test(arguments: [ClientType.singlePage, .web, .service])
    func `a client of another type cannot use the grant`(type: ClientType) async throws {
        let test = try await TestServer()
        let secret = ClientSecret()
        let client = try await test.register(
            "Darkroom", type: type, at: type == .service ? [] : ["https://app.example.com/cb"],
            under: .standard(for: type), secret: type.isConfidential ? secret : nil)
        let form = FormParameters(["client_id": client.id.rawValue])
        let reply = await test.post(
            form, to: .deviceAuthorization, fields: type.isConfidential ? .basic(client.id, secret) : [:])
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == "unauthorized_client")
    }

    // RFC 9126 §4 and §5 are about the authorization endpoint, which a device does not use.
    @Test(arguments: [true, false])
    func `a client that must push its requests can use the device grant`(isRequiredByServer: Bool) async throws {
        let test = try await TestServer { $0.requiresPushedRequests = isRequiredByServer }
        var policy = test.lightbox.policy
        policy.requiresPushedRequests = !isRequiredByServer
        try await test.setPolicy(policy, of: test.lightbox.id)
        #expect(try await Attempt(test).error().code == .invalidRequest)
        let device = TestDevice(test, client: test.lightbox)
        let codes = try await device.codes()
        var browser = test.browser()
        _ = try await browser.answer(codes)
        #expect(try await device.poll(codes).tokenResponse.scope?.description == "photos.read")
    }

    @Test func `a native app gets codes too, and an unknown client none`() async throws {
        let test = try await TestServer()
        #expect(await TestDevice(test, client: test.lightbox).request().status == .ok)
        let unknown = await test.post(FormParameters(["client_id": "app_unknown"]), to: .deviceAuthorization)
        #expect(try unknown.tokenError.error == "invalid_client")
        let none = await test.post(FormParameters(["scope": "openid"]), to: .deviceAuthorization)
        #expect(try none.tokenError.error == "invalid_request")
    }

    @Test(arguments: [
        ("scope=photos.delete", "invalid_scope"), ("scope=bad%22scope", "invalid_scope"),
        ("scope=a&scope=b", "invalid_request"), ("resource=https://other.example.com", "invalid_target"),
        ("resource=relative", "invalid_target"), ("code_challenge=short", "invalid_request"),
        ("code_challenge_method=S256", "invalid_request"),
        ("code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "invalid_request"),
        ("code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=plain", "invalid_request"),
    ])
    func `a request is refused for the reasons of an authorization request`(
        parameters: String, error: String
    ) async throws {
        let device = try await TestDevice(try await TestServer())
        var form = try FormParameters(parsing: parameters)
        form.append("client_id", device.client.id.rawValue)
        let reply = await device.test.post(form, to: .deviceAuthorization)
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == error)
    }

    // A flood from one address neither fills the store nor keeps a device at another address from its codes.
    @Test func `ten thousand requests from one address leave a hundred pending codes`() async throws {
        let device = try await TestDevice(try await TestServer())
        var statuses: [HTTPResponse.Status: Int] = [:]
        for _ in 0..<10_000 { statuses[await device.request().status, default: 0] += 1 }
        #expect(statuses == [.ok: 100, .tooManyRequests: 9900])
        let refused = await device.request()
        #expect(refused.fields[.retryAfter] == "60")
        #expect(try refused.tokenError.error == "temporarily_unavailable")
        #expect(await device.request(source: "198.51.100.8").status == .ok)
        device.test.clock.advance(by: 600)
        #expect(await device.request().status == .ok)
    }

    @Test func `an IPv6 network of 48 bits has at most four hundred pending codes`() async throws {
        let device = try await TestDevice(try await TestServer())
        var statuses: [HTTPResponse.Status: Int] = [:]
        for number in 0..<1000 {
            let source = "2001:db8:2:\(String(number * 61, radix: 16))::/64"
            statuses[await device.request(source: source).status, default: 0] += 1
        }
        #expect(statuses == [.ok: 400, .tooManyRequests: 600])
        #expect(await device.request(source: "2001:db8:3:1::/64").status == .ok)
    }

    @Test func `a failing store gives 503 and no code`() async throws {
        let store = TestStore()
        let device = try await TestDevice(try await TestServer(store: store))
        store.fail(.addDeviceAuthorization)
        let reply = await device.request()
        #expect(reply.status == .serviceUnavailable)
        #expect(try reply.tokenError.error == "temporarily_unavailable")
    }
}

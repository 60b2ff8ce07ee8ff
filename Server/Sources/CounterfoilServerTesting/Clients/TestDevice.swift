package import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore
import HTTPTypes

/// A device without a browser that uses the device authorization grant (RFC 8628).
package struct TestDevice: Sendable {
    package let test: TestServer
    package let client: RegisteredClient
    package let verifier = CodeVerifier()

    package init(_ test: TestServer, client: RegisteredClient) {
        self.test = test
        self.client = client
    }

    /// Creates a device of a new client of the type `device`.
    package init(_ test: TestServer, scope: String = "openid photos.read", optionalScope: String = "") async throws {
        self.test = test
        client = try await test.register(
            "Television", type: .device, redirectURIs: [], scope: scope, optionalScope: optionalScope)
    }

    /// The codes of a device authorization.
    package struct Codes: Sendable {
        package let deviceCode: String
        package let userCode: String
        package let complete: String

        package init(deviceCode: String, userCode: String = "", complete: String = "") {
            self.deviceCode = deviceCode
            self.userCode = userCode
            self.complete = complete
        }
    }

    /// Requests codes with the scope `photos.read`, and returns the response whatever its status is.
    package func request(
        _ parameters: KeyValuePairs<String, String> = ["scope": "photos.read"], pkce: Bool = true,
        source: String = "198.51.100.7"
    ) async -> Reply {
        var form = FormParameters(["client_id": client.id.rawValue])
        for (name, value) in parameters { form.append(name, value) }
        if pkce {
            form.append("code_challenge", CodeChallenge(of: verifier).rawValue)
            form.append("code_challenge_method", CodeChallenge.method)
        }
        return await test.post(
            form, to: .deviceAuthorization, fields: [.userAgent: "TV/1.0 (Linux)"], source: source)
    }

    /// Requests codes with the scope `photos.read`.
    package func codes(
        _ parameters: KeyValuePairs<String, String> = ["scope": "photos.read"], pkce: Bool = true,
        source: String = "198.51.100.7"
    ) async throws -> Codes {
        let members = try await request(parameters, pkce: pkce, source: source).members
        guard let device = members["device_code"] as? String, let user = members["user_code"] as? String,
            let complete = members["verification_uri_complete"] as? String
        else { throw TestServer.Refused("the response lacks a code") }
        return Codes(deviceCode: device, userCode: user, complete: complete)
    }

    /// Polls the token endpoint once.
    package func poll(
        _ codes: Codes, by other: RegisteredClient? = nil, verifier: CodeVerifier? = nil, pkce: Bool = true,
        _ parameters: KeyValuePairs<String, String> = [:]
    ) async -> Reply {
        var form = FormParameters([
            "grant_type": TokenRequest.DeviceCodeExchange.grantType, "device_code": codes.deviceCode,
            "client_id": (other ?? client).id.rawValue,
        ])
        if pkce { form.append("code_verifier", (verifier ?? self.verifier).exposed) }
        for (name, value) in parameters { form.append(name, value) }
        return await test.redeem(form)
    }
}

extension ScriptedUserAgent {
    /// Types a code at `/device` and returns the next page: the sign-in, the permissions or the form with an error.
    package mutating func type(userCode: String) async throws -> Reply {
        let page = try await open(server.settings.issuer.endpoint("/device")).deviceCodePage
        return try await submit(page.form(userCode), to: page.action)
    }

    /// Types a code at `/device`, signs in if necessary, and presses a button on the page with the permissions.
    package mutating func answer(
        _ codes: TestDevice.Codes, _ decision: Decision = .allow, username: String = "alice",
        password: String = TestServer.password
    ) async throws -> Reply {
        var reply = try await type(userCode: codes.userCode)
        if reply.page is SignInPage {
            reply = try await signIn(on: reply, username: username, password: password)
        }
        return try await decide(decision, on: reply)
    }
}

extension DeviceCodePage {
    /// Returns the form fields that the browser sends when the user has typed a code.
    package func form(_ userCode: String) -> FormParameters {
        FormParameters(["ticket": ticket, "user_code": userCode])
    }
}

import CounterfoilHummingbird
import CounterfoilProtocol
import CounterfoilResource
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@Suite struct BearerAuthenticationMiddlewareTests {
    private typealias Context = BasicVerifiedAccessRequestContext

    private func answer(
        of application: some ApplicationProtocol, _ path: String, method: HTTPRequest.Method = .get, token: String,
        headers: HTTPFields = [:], body: String? = nil
    ) async throws -> TestResponse {
        var headers = headers
        headers[.authorization] = "Bearer \(token)"
        return try await application.test(.router) { [headers] client in
            try await client.executeRequest(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        }
    }

    // RFC 6750 §3.1: a nested group requires more, and its challenge states everything that the request needs.
    @Test func `a nested group can require more of the same token`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer()
            let router = Router(context: Context.self)
            let photos = router.group("photos").requireScope(try Scope(parsing: "photos.read"), of: server)
            photos.get { _, context in try context.requireUser().subject }
            photos.requireScope(try Scope(parsing: "photos.write"), of: server)
                .delete { _, context in try context.requireUser().subject }
            let application = Application(router: router)

            let reading = try authority.token(scope: "photos.read")
            let both = try authority.token(scope: "photos.read photos.write")
            #expect(String(buffer: try await answer(of: application, "/photos", token: reading).body) == "anna")
            let narrow = try await answer(of: application, "/photos", method: .delete, token: reading)
            #expect(narrow.status == .forbidden)
            #expect(narrow.headers[.wwwAuthenticate]?.contains("scope=\"photos.read photos.write\"") == true)
            let wide = try await answer(of: application, "/photos", method: .delete, token: both)
            #expect(String(buffer: wide.body) == "anna")
        }
    }

    // An access that one API verified is not accepted by a nested group of another API.
    @Test func `a nested group with another audience verifies the token itself`() async throws {
        try await Authority.run { authority async throws in
            let outer = authority.resourceServer()
            let inner = ResourceServer(issuer: authority.issuer, audience: "https://other.example")
            let router = Router(context: Context.self)
            router.group("photos").requireScope(Scope(), of: outer).requireScope(Scope(), of: inner)
                .get { _, _ in "inside" }
            let refused = try await answer(of: Application(router: router), "/photos", token: try authority.token())
            #expect(refused.status == .unauthorized)
        }
    }

    // An access without introspection is not accepted by a nested group that requires it.
    @Test func `a nested group with introspection introspects the token itself`() async throws {
        try await Authority.run { authority async throws in
            let asking = authority.resourceServer(
                introspection: TokenIntrospection(
                    clientID: try #require(ClientIdentifier("api_photos")),
                    clientSecret: try #require(ClientSecret("s3cret"))))
            let router = Router(context: Context.self)
            let photos = router.group("photos").requireScope(Scope(), of: authority.resourceServer())
            photos.get { _, _ in "inside" }
            photos.requireScope(Scope(), of: asking).requireScope(Scope(), of: asking).delete { _, _ in "gone" }
            let application = Application(router: router)
            let token = try authority.token()
            authority.change { $0.introspectionResponses[token] = #"{"active":false}"# }
            #expect(try await answer(of: application, "/photos", token: token).status == .ok)
            #expect(
                try await answer(of: application, "/photos", method: .delete, token: token).status == .unauthorized)
            let good = try authority.token(subject: "bert")
            authority.change { $0.introspectionResponses[good] = #"{"active":true,"scope":"photos.read"}"# }
            #expect(try await answer(of: application, "/photos", method: .delete, token: good).status == .ok)
            #expect(authority.introspections.count == 2)
        }
    }

    // A route without the middleware fails, and never handles a request as anonymous.
    @Test func `a route without its middleware fails`() async throws {
        try await Authority.run { authority async throws in
            let router = Router(context: Context.self)
            router.get("photos") { _, context in try context.requireUser().subject }
            let answer = try await answer(of: Application(router: router), "/photos", token: try authority.token())
            #expect(answer.status == .internalServerError)
            #expect(answer.body.readableBytes == 0)
        }
    }

    // RFC 6750 §2.
    @Test func `a form with a second token is refused if forms are checked`() async throws {
        try await Authority.run { authority async throws in
            let router = Router(context: Context.self)
            router.group("photos").requireScope(Scope(), of: authority.resourceServer(), checkingFormsUpTo: 100)
                .post { request, _ in String(buffer: try await request.body.collect(upTo: 100)) }
            let application = Application(router: router)
            let token = try authority.token()
            let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]

            let both = try await answer(
                of: application, "/photos", method: .post, token: token, headers: form, body: "access_token=abc")
            #expect(both.status == .badRequest)
            #expect(both.headers[.wwwAuthenticate]?.contains("error=\"invalid_request\"") == true)
            let plain = try await answer(
                of: application, "/photos", method: .post, token: token, headers: form, body: "title=x")
            #expect(String(buffer: plain.body) == "title=x")
            let long = try await answer(
                of: application, "/photos", method: .post, token: token, headers: form,
                body: String(repeating: "x", count: 101))
            #expect(long.status == .contentTooLarge)
        }
    }
}

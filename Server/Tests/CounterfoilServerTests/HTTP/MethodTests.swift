import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

struct MethodTests {
    // Any other method is refused with the list of allowed methods, and has no effect.
    @Test(arguments: Endpoint.protocolEndpoints + ServerPages.console.endpoints)
    func `a method that an endpoint does not support gets 405 with Allow`(endpoint: Endpoint) async throws {
        let test = try await TestServer()
        let all: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options, .trace, .connect]
        for method in all where !endpoint.methods.contains(method) {
            let reply = await test.send(method, to: endpoint, query: Attempt(test).request.encoded)
            #expect(reply.status == .methodNotAllowed)
            #expect(reply.fields[.allow] == endpoint.methods.map(\.rawValue).joined(separator: ", "))
            #expect(reply.cookies.isEmpty)
        }
    }

    // A code in the URL of a GET is not consumed.
    @Test func `a token request by GET consumes nothing`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let code = try await attempt.authorize().code
        let reply = await test.send(.get, to: .token, query: attempt.exchange(code).encoded)
        #expect(reply.status == .methodNotAllowed)
        #expect(reply.fields[.allow] == "POST")
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
    }

    // A header field that overrides the method is ignored.
    @Test(arguments: ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
    func `a header field does not override the method`(name: String) async throws {
        let test = try await TestServer()
        let field = try HTTPField.Name.named(name)
        let reply = await test.send(.get, to: .consent, fields: [field: "POST"])
        #expect(reply.status == .methodNotAllowed)
        let shown = await test.send(
            .get, to: .authorization, query: Attempt(test).request.encoded, fields: [field: "DELETE"])
        #expect(try shown.signInPage.action == "/oauth2/authorize/sign-in")
    }

    @Test func `a healthy and ready server says so`() async throws {
        let test = try await TestServer()
        #expect(await test.send(.get, to: .liveness).status == .ok)
        #expect(await test.send(.get, to: .readiness).status == .ok)
    }
}

@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilServer
@_spi(Counterfoil) package import CounterfoilTokens
import Foundation
import HTTPTypes

/// The page of an owner that signs users in, for tests: it answers requests without a network.
package struct TestSignInPage: Sendable {
    package static let address = "https://shop.example.com/login?theme=dark"
    package static let issuer = "https://shop.example.com"

    /// The key that signs the responses.
    package var key: SigningKey
    /// `typ` of the responses.
    package var type = TokenType.signInResponse

    package init(_ algorithm: SigningAlgorithm = .es256) throws { key = try SigningKey.generate(algorithm) }

    /// Creates a server whose owner has this page.
    package func server(
        users: ExternalSignIn.Users = .create, configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws -> TestServer {
        let setting = try setting(users: users)
        return try await TestServer {
            $0.externalSignIn = setting
            configure(&$0)
        }
    }

    /// The setting of a server whose owner has this page.
    package func setting(users: ExternalSignIn.Users = .create) throws -> ExternalSignIn {
        ExternalSignIn(
            page: try AbsoluteURI(parsing: Self.address), keys: JSONWebKeySet(keys: [key.publicKey]), users: users,
            name: "Example Shop")
    }

    /// Returns the request in a redirect to the page.
    package func request(in reply: Reply) throws -> String {
        guard reply.status == .seeOther, let location = reply.location, location.hasPrefix(Self.address + "&"),
            let request = try FormParameters(parsing: String(location.dropFirst(Self.address.count + 1)))
                .single("request")
        else { throw UnexpectedReply(needed: "a redirect to the page of the owner", reply: reply) }
        return request
    }

    /// Returns the claims of the request in a redirect to the page.
    package func claims(in reply: Reply) throws -> [String: JSONValue] {
        guard let claims = JSONReader.unverifiedClaims(of: try request(in: reply)) else {
            throw UnexpectedReply(needed: "a signed request", reply: reply)
        }
        return claims
    }

    /// Returns the response to the request in a redirect to the page.
    ///
    /// - Parameters:
    ///   - reply: The redirect.
    ///   - subject: The user whom the page has signed in.
    ///   - test: The server.
    ///   - change: Changes the claims.
    package func response(
        to reply: Reply, of subject: String = "customer-7", at test: TestServer,
        changing change: (inout [String: Any]) -> Void = { _ in }
    ) throws -> String {
        let time = Int(test.clock.wall.timeIntervalSince1970)
        var claims: [String: Any] = [
            "iss": Self.issuer, "aud": test.issuer.rawValue, "iat": time, "exp": time + 120, "auth_time": time,
            "sub": subject,
        ]
        claims["nonce"] = try self.claims(in: reply)["jti"]?.text
        change(&claims)
        return try key.sign(json: Array(try JSONSerialization.data(withJSONObject: claims)), type: type)
    }

    /// Returns the URL at which the browser brings a response.
    package func address(of response: String, at test: TestServer) -> String {
        test.issuer.endpoint("/sign-in/external") + "?" + FormParameters(["response": response]).encoded
    }

    /// Signs a user in at the page, and brings the response back.
    package func signIn(
        _ subject: String = "customer-7", on reply: Reply, in browser: inout ScriptedUserAgent, at test: TestServer,
        changing change: (inout [String: Any]) -> Void = { _ in }
    ) async throws -> Reply {
        let response = try response(to: reply, of: subject, at: test, changing: change)
        return try await browser.open(address(of: response, at: test))
    }
}

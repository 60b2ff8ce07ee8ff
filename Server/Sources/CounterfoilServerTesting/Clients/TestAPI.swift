package import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore
package import CounterfoilTokens
import Foundation
package import HTTPTypes

extension TestServer {
    /// Registers an API with a new secret, with which the API authenticates to introspect tokens.
    package func addAPI(
        _ uri: String = "https://photos.example.com", scope: String = "photos.read photos.write",
        tokenType: AccessTokenType = .atJWT, requiresBoundTokens: Bool = false
    ) async throws -> TestAPI {
        let secret = ClientSecret()
        guard let clientID = RegisteredResource.newClientID() else { throw Refused("no identifier for \(uri)") }
        let resource = RegisteredResource(
            resource: try Resource(uri), clientID: clientID, name: "Photo library",
            scope: try Scope(lenient: scope), tokenType: tokenType,
            requiresBoundTokens: requiresBoundTokens, secret: ArtefactDigest(of: secret), createdAt: clock.now)
        let outcome = try await store.addResource(resource)
        guard outcome == .added else { throw Refused("\(uri) was not added: \(outcome)") }
        return TestAPI(test: self, resource: resource, secret: secret)
    }
}

/// A registered API with its secret.
package struct TestAPI: Sendable {
    package let test: TestServer
    package let resource: RegisteredResource
    package let secret: ClientSecret

    /// The `Authorization` header field with which the API authenticates (RFC 6749 §2.3.1).
    package var fields: HTTPFields { .basic(resource.clientID, secret) }

    /// Sends an introspection request for a token (RFC 7662), by default with the credentials of the API.
    package func introspect(_ token: String, fields: HTTPFields? = nil) async -> Reply {
        await test.post(FormParameters(["token": token]), to: .introspection, fields: fields ?? self.fields)
    }

    /// Returns true if introspection says that a token is active.
    package func sees(_ token: String) async throws -> Bool {
        try await introspect(token).members["active"] as? Bool == true
    }
}

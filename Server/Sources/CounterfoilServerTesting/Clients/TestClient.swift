package import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore
import Foundation
package import HTTPTypes

extension TestServer {
    /// Sends a form to an endpoint as a client does, without a browser and its cookies.
    package func post(
        _ form: FormParameters, to endpoint: Endpoint, fields: HTTPFields = [:], query: String? = nil,
        source: String = "192.0.2.1"
    ) async -> Reply {
        var sent: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        for field in fields { sent[field.name] = field.value }
        return await send(
            .post, to: endpoint, query: query, fields: sent, body: Array(form.encoded.utf8), source: source)
    }

    /// Registers a client of the type `service` with a secret.
    package func addService(
        _ name: String = "Nightly", scope: String = "photos.read", secret: ClientSecret = ClientSecret()
    ) async throws -> TestClient {
        let client = try await register(name, type: .service, redirectURIs: [], scope: scope)
        let record = ClientSecretRecord(digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: clock.now)
        let outcome = try await store.addClientSecret(record)
        guard outcome == .added else { throw Refused("the secret of \(name) was not added: \(outcome)") }
        return TestClient(test: self, client: client, fields: .basic(client.id, secret), secret: secret)
    }
}

/// A confidential client with its secret.
package struct TestClient: Sendable {
    package let test: TestServer
    package let client: RegisteredClient
    package let fields: HTTPFields
    package let secret: ClientSecret

    /// Requests an access token with the client credentials grant (RFC 6749 §4.4).
    package func token(_ parameters: KeyValuePairs<String, String> = [:]) async throws -> TokenResponse {
        var form = FormParameters(["grant_type": "client_credentials"])
        for (name, value) in parameters { form.append(name, value) }
        return try await test.redeem(form, fields: fields).tokenResponse
    }
}

extension HTTPFields {
    /// Returns the header field of `client_secret_basic` (RFC 6749 §2.3.1).
    package static func basic(_ id: ClientIdentifier, _ secret: ClientSecret) -> HTTPFields {
        [.authorization: "Basic " + Data("\(id):\(secret.exposed)".utf8).base64EncodedString()]
    }
}

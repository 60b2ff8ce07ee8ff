import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

extension TestServer {
    /// Posts a form to an endpoint as a program does.
    func post(
        _ form: FormParameters, to endpoint: Endpoint, fields: HTTPFields = [:], query: String? = nil,
        source: String = "192.0.2.1"
    ) async -> Reply {
        var sent: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        for field in fields { sent[field.name] = field.value }
        return await send(
            .post, to: endpoint, query: query, fields: sent, body: Array(form.encoded.utf8), source: source)
    }

    /// Registers an API with a secret.
    func addAPI(
        _ uri: String = "https://photos.example.com", scope: String = "photos.read photos.write"
    ) async throws -> TestAPI {
        let secret = ClientSecret()
        let resource = RegisteredResource(
            resource: try Resource(uri), clientID: try #require(RegisteredResource.newClientID()),
            name: "Photo library",
            scope: try Scope(lenient: scope), secret: ArtefactDigest(of: secret), createdAt: clock.now)
        #expect(try await store.addResource(resource) == .added)
        return TestAPI(test: self, resource: resource, secret: secret)
    }

    /// Registers a service, which uses the client credentials grant, with a secret.
    func addService(
        _ name: String = "Nightly", scope: String = "photos.read", secret: ClientSecret = ClientSecret()
    ) async throws -> TestApplication {
        let client = try await register(name, type: .service, redirectURIs: [], scope: scope)
        let record = ClientSecretRecord(digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: clock.now)
        #expect(try await store.addClientSecret(record) == .added)
        return TestApplication(test: self, client: client, fields: .basic(client.id, secret), secret: secret)
    }
}

/// A registered API with its secret.
struct TestAPI: Sendable {
    let test: TestServer
    let resource: RegisteredResource
    let secret: ClientSecret

    /// The Authorization field of the API.
    var fields: HTTPFields { .basic(resource.clientID, secret) }

    /// Sends an introspection request; returns the response.
    func introspect(_ token: String, fields: HTTPFields? = nil) async -> Reply {
        await test.post(FormParameters(["token": token]), to: .introspection, fields: fields ?? self.fields)
    }

    /// Returns true if introspection reports a token as active.
    func sees(_ token: String) async throws -> Bool {
        try await introspect(token).members["active"] as? Bool == true
    }
}

/// A confidential client with its secret.
struct TestApplication: Sendable {
    let test: TestServer
    let client: RegisteredClient
    let fields: HTTPFields
    let secret: ClientSecret

    /// Requests a token with the client credentials grant.
    func token(_ parameters: KeyValuePairs<String, String> = [:]) async throws -> TokenResponse {
        var form = FormParameters(["grant_type": "client_credentials"])
        for (name, value) in parameters { form.append(name, value) }
        return try await test.redeem(form, fields: fields).tokenResponse
    }
}

extension HTTPFields {
    /// `client_secret_basic`.
    static func basic(_ id: ClientIdentifier, _ secret: ClientSecret) -> HTTPFields {
        [.authorization: "Basic " + Data("\(id):\(secret.exposed)".utf8).base64EncodedString()]
    }
}

extension Reply {
    /// The members of a JSON object.
    var members: [String: Any] {
        get throws { try #require(try JSONSerialization.jsonObject(with: Data(try json)) as? [String: Any]) }
    }

    /// The body as text.
    var text: String { get throws { String(decoding: try json, as: UTF8.self) } }
}

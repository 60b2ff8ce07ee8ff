import CounterfoilProtocol
import CounterfoilServer
package import CounterfoilStore
import Foundation

extension TestServer {
    /// Lets the policy accept every kind of unregistered client with the scopes of this server, and changes it further.
    package func acceptUnregisteredClients(
        _ change: (inout UnregisteredClientPolicy) throws -> Void = { _ in }
    ) async throws {
        var policy = try await store.unregisteredClientPolicy()
        policy.kinds = [.document, .registration]
        policy.maximumScope = try Scope(parsing: "openid profile photos.read photos.write offline_access")
        try change(&policy)
        let outcome = try await store.updateUnregisteredClientPolicy(policy)
        guard outcome == .updated else { throw Refused("the policy was not changed: \(outcome)") }
    }

    /// Returns a client as it is known from its document; it is not stored.
    package func documentClient(_ url: String, name: String = "Album") throws -> RegisteredClient {
        try unregistered(url, name: name, source: .document(Array("{}".utf8)))
    }

    private static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    /// Stores a client as it registered itself.
    package func selfRegisteredClient(
        _ id: String = "app_self", name: String = "Album", type: ClientType = .native
    ) async throws -> RegisteredClient {
        let registration = DynamicRegistration(
            metadata: Array((type == .device ? #"{"grant_types":["\#(Self.deviceGrant)"]}"# : "{}").utf8),
            accessToken: ArtefactDigest(of: ClientSecret()))
        let client = try unregistered(id, name: name, type: type, source: .registration(registration))
        let outcome = try await store.addClient(client)
        guard outcome == .added else { throw Refused("\(id) was not stored: \(outcome)") }
        return client
    }

    /// Returns the text of the document of a native client with a loopback redirect URI.
    package static func document(of url: String, name: String = "Album") -> String {
        """
        {"client_id": "\(url)", "client_name": "\(name)", "application_type": "native",
        "grant_types": ["authorization_code", "refresh_token"],
        "redirect_uris": ["http://127.0.0.1/callback"]}
        """
    }

    private func unregistered(
        _ id: String, name: String, type: ClientType = .native, source: ClientSource
    ) throws -> RegisteredClient {
        guard let id = ClientIdentifier(id) else { throw Refused("\(id) is not a client_id") }
        return RegisteredClient(
            id: id, type: type, presentation: ClientPresentation(name: name),
            redirectURIs: type == .device ? [] : [try RedirectURI("http://127.0.0.1/callback")],
            scope: try Scope(parsing: "openid profile photos.read"), source: source,
            policy: .standard(for: type), createdAt: clock.now)
    }
}

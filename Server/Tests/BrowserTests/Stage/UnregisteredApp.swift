import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport

extension Stage {
    /// Stores an app with a document, as the server does when a user first allows it something.
    ///
    /// - Returns: The path of its page for administrators.
    func storeUnregisteredClient(_ url: String) async throws -> String {
        let path = URL(fileURLWithPath: site.dataDirectory).appendingPathComponent("counterfoil.db").path
        let store = try SQLiteStore(at: path, upgrading: false)
        guard let id = ClientIdentifier(url) else { throw WebDriverError.notUnderstood("client_id") }
        let client = RegisteredClient(
            id: id, type: .native, presentation: ClientPresentation(name: "Album"),
            redirectURIs: [try RedirectURI("http://127.0.0.1/callback")], scope: Scope([.openID]),
            source: .document(Array("{}".utf8)), policy: .standard(for: .native), createdAt: Date())
        _ = try await store.addClient(client)
        await store.close()
        return Endpoint.unregisteredClient.path(of: id)
    }
}

import CounterfoilProtocol
import Foundation
import HTTPTypes

/// `/callback/{client_id}`: an address of this host that a native application may claim (RFC 8252 §7.2).
///
/// Where the platform has not opened the application, a page says so. What the query holds may be an answer that was meant
/// for the application, so nothing reads it: it is not shown, not logged and not acted on.
struct CallbackEndpoint: Sendable {
    let settings: ServerSettings
    let store: any ClientStore

    var handlers: [EndpointHandler] { [EndpointHandler(.callback, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        guard let id = request.parameters.clientID, let client = try await store.client(id), client.type == .native
        else { throw NotFoundError() }
        return Reply(.ok, .page(AppLinkPage(applicationName: client.displayName)))
    }
}

import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The endpoint `/callback/{client_id}`: a URL of this host that a native app can claim (RFC 8252 §7.2).
///
/// The browser requests the URL only if the platform did not open the app, and the page says so. The query may contain
/// an authorization response for the app, so the server does not read, show or log the query.
struct CallbackEndpoint: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry

    var handlers: [EndpointHandler] { [EndpointHandler(.callback, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        guard let id = request.parameters.clientID, let client = try await registry.atArrival().client(id),
            client.type == .native
        else { throw NotFoundError() }
        return Reply(.ok, .page(AppLinkPage(clientName: client.displayName)))
    }
}

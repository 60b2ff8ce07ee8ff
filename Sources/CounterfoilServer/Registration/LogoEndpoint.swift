import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The endpoint of `/logos/{logo}`, which serves the logos that the server has encoded from uploads.
///
/// A new logo gets a new URL, so a response never becomes stale and may be cached for a year.
struct LogoEndpoint: Sendable {
    let store: any ClientStore

    var handlers: [EndpointHandler] { [EndpointHandler(.logo, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        guard let id = request.parameters.logo, let logo = try await store.logo(id) else {
            throw NotFoundError()
        }
        return Reply(.ok, .image(logo), fields: [.cacheControl: "public, max-age=31536000, immutable"])
    }
}

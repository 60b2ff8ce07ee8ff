import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The endpoint of `/logos/{logo}`, which serves the logos that the server has encoded: from uploads, and those that
/// unregistered clients publish.
///
/// A new logo gets a new URL, so a response never becomes stale and may be cached for a year.
struct LogoEndpoint: Sendable {
    let store: any ClientStore
    /// The logos of unregistered clients; nil if the server fetches none.
    let published: ClientLogos?

    var handlers: [EndpointHandler] { [EndpointHandler(.logo, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        guard let id = request.parameters.logo else { throw NotFoundError() }
        var logo = try await store.logo(id)
        if logo == nil { logo = await published?.logo(id) }
        guard let logo else { throw NotFoundError() }
        return Reply(.ok, .image(logo), fields: [.cacheControl: "public, max-age=31536000, immutable"])
    }
}

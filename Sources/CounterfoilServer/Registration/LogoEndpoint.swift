import CounterfoilProtocol
import HTTPTypes

/// `/logos/{logo}`: the pictures that the server has made from uploads, under addresses that change with them.
struct LogoEndpoint: Sendable {
    let store: any ClientStore

    func respond(to request: IncomingRequest) async throws -> Reply {
        guard let id = request.parameters.logo, let logo = try await store.logo(id) else {
            throw Console.NothingHere()
        }
        return Reply(.ok, .image(logo), fields: [.cacheControl: "public, max-age=31536000, immutable"])
    }
}

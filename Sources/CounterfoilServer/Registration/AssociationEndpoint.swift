import CounterfoilProtocol
import HTTPTypes

/// `/.well-known/apple-app-site-association` and `/.well-known/assetlinks.json`: which apps may claim addresses of this host.
///
/// Platforms fetch them without following redirects and want application/json.
struct AssociationEndpoint: Sendable {
    let settings: ServerSettings
    let store: any ClientStore

    func respond(to request: IncomingRequest, at endpoint: Endpoint) async throws -> Reply {
        let files = AssociationFiles(of: try await store.clients(), at: settings.place(of: request))
        let bytes =
            endpoint == .appleAssociation ? try files.appleAppSiteAssociation() : try files.assetLinks()
        return Reply(.ok, .json(bytes), fields: [.cacheControl: "public, max-age=3600"])
    }
}

extension ServerSettings {
    /// The origin whose files a request asks for.
    fileprivate func place(of request: IncomingRequest) -> AssociationFiles.Place {
        guard origin(of: request.head) == .callback, let callbackOrigin else { return .issuer(issuer) }
        return .callbackOrigin(callbackOrigin)
    }
}

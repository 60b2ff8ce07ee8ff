import CounterfoilProtocol
import HTTPTypes

/// `/.well-known/apple-app-site-association` and `/.well-known/assetlinks.json`: the apps that may claim
/// URLs of this host.
///
/// The platforms fetch the files without following redirects and require `application/json`.
struct AssociationEndpoint: Sendable {
    let settings: ServerSettings
    let store: any ClientStore

    var handlers: [EndpointHandler] {
        [
            EndpointHandler(.appleAssociation) { request, _ in
                try Self.reply(try await files(for: request).appleAppSiteAssociation())
            },
            EndpointHandler(.androidAssociation) { request, _ in
                try Self.reply(try await files(for: request).assetLinks())
            },
        ]
    }

    private func files(for request: IncomingRequest) async throws -> AssociationFiles {
        AssociationFiles(of: try await store.clients(), at: settings.place(of: request))
    }

    private static func reply(_ json: [UInt8]) throws -> Reply {
        Reply(.ok, .json(json), fields: [.cacheControl: "public, max-age=3600"])
    }
}

extension ServerSettings {
    /// The origin whose files a request asks for.
    fileprivate func place(of request: IncomingRequest) -> AssociationFiles.Place {
        guard origin(of: request.head) == .callback, let callbackOrigin else { return .issuer(issuer) }
        return .callbackOrigin(callbackOrigin)
    }
}

import CounterfoilProtocol
import HTTPTypes

/// The endpoint of `/.well-known/apple-app-site-association` and `/.well-known/assetlinks.json`, which name the
/// apps that may claim URLs of this host.
///
/// Apple's and Google's systems fetch these files. They follow no redirects and require `client/json`.
struct AssociationEndpoint: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry

    var handlers: [EndpointHandler] {
        [
            EndpointHandler(.appleAssociation) { request, _ in
                Self.reply(try await files(for: request).appleAppSiteAssociation)
            },
            EndpointHandler(.androidAssociation) { request, _ in
                Self.reply(try await files(for: request).assetLinks)
            },
        ]
    }

    private func files(for request: IncomingRequest) async throws -> AssociationFiles.Encoded {
        try await registry.atArrival().associationFiles(at: settings.associationOrigin(of: request))
    }

    private static func reply(_ json: [UInt8]) -> Reply {
        Reply(.ok, .json(json), fields: [.cacheControl: "public, max-age=3600"])
    }
}

extension ServerSettings {
    /// Returns the origin that a request was sent to: the origin of the issuer, or the separate callback origin.
    fileprivate func associationOrigin(of request: IncomingRequest) -> AssociationFiles.Origin {
        guard origin(of: request.head) == .callback, let callbackOrigin else { return .issuer(issuer) }
        return .callbackOrigin(callbackOrigin)
    }
}

import CounterfoilProtocol
import CounterfoilStore

extension UnregisteredClientRules {
    /// Checks `redirect_uris`, which every client of a flow with redirects registers (RFC 7591 §2).
    func redirectURIs(
        _ metadata: ClientMetadata, of type: ClientType, id: ClientIdentifier
    ) throws(Refusal) -> [RedirectURI] {
        guard type.hasRedirectURIs else {
            guard metadata.redirectURIs.isEmpty else {
                throw Refusal(.invalidRedirectURI, "redirect_uris needs the grant type authorization_code")
            }
            return []
        }
        guard !metadata.redirectURIs.isEmpty else { throw Refusal(.invalidRedirectURI, "redirect_uris is missing") }
        let redirectURIs = try accepted(
            metadata.redirectURIs, "redirect_uris", .invalidRedirectURI, of: type, id: id)
        for case .https(let host) in redirectURIs.map(\.kind) where !policy.accepts(host: host) {
            throw Refusal(.invalidRedirectURI, "this server does not accept clients of the host \(host)")
        }
        return redirectURIs
    }

    func postLogoutRedirectURIs(
        _ metadata: ClientMetadata, of type: ClientType, id: ClientIdentifier
    ) throws(Refusal) -> [RedirectURI] {
        let written = metadata.postLogoutRedirectURIs
        guard type.hasRedirectURIs || written.isEmpty else {
            throw Refusal("post_logout_redirect_uris needs the grant type authorization_code")
        }
        return try accepted(written, "post_logout_redirect_uris", .invalidClientMetadata, of: type, id: id)
    }

    private func accepted(
        _ written: [String], _ member: String, _ code: Refusal.Code, of type: ClientType, id: ClientIdentifier
    ) throws(Refusal) -> [RedirectURI] {
        guard written.count <= RedirectURIRegistration.limit else {
            throw Refusal(code, "\(member) has more than \(RedirectURIRegistration.limit) elements")
        }
        let context = context(of: type, id: id)
        var accepted: [RedirectURI] = []
        for text in written {
            switch RedirectURIRegistration.verdict(on: text, for: context) {
            case .accepted(let uri, _): if !accepted.contains(uri) { accepted.append(uri) }
            case .refused(let refusal): throw Refusal(code, "\(member): \(text.prefix(200)) is refused: \(refusal)")
            }
        }
        return accepted
    }

    /// The origins whose scripts may read responses to the client (CORS).
    ///
    /// A browser-based tool at a fixed port of the user's device cannot be told from a native program. The page at an
    /// http redirect URI with a port therefore counts as a page of the client. Its scripts gain nothing: without a code
    /// and its verifier, the endpoints tell them nothing that another request would not.
    static func origins(of type: ClientType, _ redirectURIs: [RedirectURI]) -> [RegisteredOrigin] {
        switch type {
        case .singlePage: [RegisteredOrigin](of: redirectURIs)
        case .native:
            [RegisteredOrigin](
                of: redirectURIs.filter { uri in if case .loopback(_, port: _?) = uri.kind { true } else { false } })
        case .web, .device, .service: []
        }
    }

    /// Checks `backchannel_logout_uri`, the destination of logout tokens (OpenID Connect Back-Channel Logout §2.2).
    func backchannelLogoutURI(_ metadata: ClientMetadata, of type: ClientType) throws(Refusal) -> AbsoluteURI? {
        try metadata.backchannelLogoutURI.map { text throws(Refusal) in
            guard let uri = try? AbsoluteURI(parsing: text), RedirectURIRegistration.isBackchannelLogoutURI(uri),
                !uri.hasDotSegments,
                let host = uri.host, type.hasRedirectURIs
            else { throw Refusal("backchannel_logout_uri must be an https URL with a host name") }
            guard policy.accepts(host: host) else {
                throw Refusal("backchannel_logout_uri: this server does not accept clients of the host \(host)")
            }
            return uri
        }
    }
}

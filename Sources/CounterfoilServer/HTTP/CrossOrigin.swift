import HTTPTypes

/// The CORS rules: which scripts of other origins may read responses of this server (Fetch §3.2).
///
/// The server never sends `Access-Control-Allow-Credentials`, so scripts cannot read responses to requests with
/// cookies. They must send tokens instead.
struct CrossOrigin: Sendable {
    let store: any ClientStore

    /// The CORS decision for one request.
    struct Sharing: Sendable {
        /// `Access-Control-Allow-Origin`; nil if no script may read the response.
        fileprivate let origin: String?
        /// Whether the decision depends on the `Origin` field of the request, so that caches need `Vary`.
        fileprivate let varies: Bool

        /// Returns the response with the CORS fields.
        func mark(_ reply: Reply) -> Reply {
            var reply = reply
            if varies { reply.fields.append(HTTPField(name: .vary, value: "Origin")) }
            guard let origin else { return reply }
            reply.fields[.accessControlAllowOrigin] = origin
            reply.fields[.accessControlExposeHeaders] = "WWW-Authenticate, Retry-After"
            return reply
        }
    }

    /// The time in seconds for which a browser may cache a preflight response.
    private static let maxAge = 3600

    /// The header fields that scripts may send in addition to the CORS-safelisted request headers.
    private static let allowedFields = "Content-Type, Authorization, DPoP, MCP-Protocol-Version"

    /// Decides which scripts may read the response to a request at an endpoint.
    func sharing(of endpoint: Endpoint, with request: IncomingRequest) async -> Sharing {
        switch endpoint.scriptAccess {
        case .none: return Sharing(origin: nil, varies: false)
        case .everyone: return Sharing(origin: "*", varies: false)
        case .registered:
            let origins = request.head.headerFields[values: .origin]
            guard origins.count == 1, let origin = WebOrigin(origins[0]),
                // If the store is unavailable, no script may read the response.
                (try? await store.isRegistered(origin)) == true
            else { return Sharing(origin: nil, varies: true) }
            return Sharing(origin: origin.rawValue, varies: true)
        }
    }

    /// Returns the response to a CORS preflight request; nil for any other request.
    func preflight(_ request: IncomingRequest, at endpoint: Endpoint, _ sharing: Sharing) -> Reply? {
        let fields = request.head.headerFields
        guard request.head.method == .options, sharing.origin != nil, fields[.origin] != nil,
            fields[.accessControlRequestMethod] != nil
        else { return nil }
        return Reply(
            .noContent,
            fields: [
                .accessControlAllowMethods: endpoint.methods.map(\.rawValue).joined(separator: ", "),
                .accessControlAllowHeaders: Self.allowedFields,
                .accessControlMaxAge: String(Self.maxAge),
            ])
    }
}

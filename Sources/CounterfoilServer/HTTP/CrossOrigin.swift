import HTTPTypes

/// The rules for scripts that read responses from another origin (CORS, Fetch §3.2).
///
/// Credentials are never allowed: a script sends tokens itself and must not use a cookie of this server.
struct CrossOrigin: Sendable {
    let store: any ClientStore

    /// The CORS decision for one request.
    struct Sharing: Sendable {
        /// `Access-Control-Allow-Origin`; nil if no script may read the response.
        fileprivate let origin: String?
        /// Whether the decision depends on the `Origin` field.
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

    /// The time for which a browser may cache a preflight response, in seconds.
    private static let maxAge = 3600

    /// The request fields that scripts may send in addition to the CORS-safelisted ones.
    private static let allowedFields = "Content-Type, Authorization, DPoP, MCP-Protocol-Version"

    /// Decides which scripts may read the response to a request.
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

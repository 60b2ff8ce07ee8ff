import HTTPTypes

/// Whose scripts may read what the server answers (Fetch §3.2).
///
/// Never with credentials: a script has its tokens, and no cookie of ours is any of its business.
struct CrossOrigin: Sendable {
    let store: any ClientStore

    /// The scripts of one request.
    struct Sharing: Sendable {
        /// `Access-Control-Allow-Origin`; nil where none may read.
        fileprivate let origin: String?
        /// Whether the answer depends on who asks.
        fileprivate let varies: Bool

        /// The answer as scripts get it.
        func mark(_ reply: Reply) -> Reply {
            var reply = reply
            if varies { reply.fields.append(HTTPField(name: .vary, value: "Origin")) }
            guard let origin else { return reply }
            reply.fields[.accessControlAllowOrigin] = origin
            reply.fields[.accessControlExposeHeaders] = "WWW-Authenticate, Retry-After"
            return reply
        }
    }

    /// How long a browser may remember what it was told, in seconds.
    private static let maxAge = 3600

    /// What scripts may send beside what they may always send.
    private static let allowedFields = "Content-Type, Authorization, DPoP, MCP-Protocol-Version"

    /// Who may read the answer to a request.
    func sharing(of endpoint: Endpoint, with request: IncomingRequest) async -> Sharing {
        switch endpoint.scriptAccess {
        case .none: return Sharing(origin: nil, varies: false)
        case .everyone: return Sharing(origin: "*", varies: false)
        case .registered:
            let origins = request.head.headerFields[values: .origin]
            guard origins.count == 1, let origin = WebOrigin(origins[0]),
                // While the store is away nobody knows who is registered.
                (try? await store.isRegistered(origin)) == true
            else { return Sharing(origin: nil, varies: true) }
            return Sharing(origin: origin.rawValue, varies: true)
        }
    }

    /// The answer to a browser that asks before it sends what a script wants to send; nil when this is another request.
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

import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// The CORS rules: which scripts of other origins may read responses of this server (Fetch §3.2).
///
/// An origin counts for the clients that registered it, and for no other client:
///
/// - A preflight request names no client. It succeeds if any client has registered the origin.
/// - The response to a client can be read from the origins of this client.
/// - An error in response to a request of no known client can be read from the origins of every client.
///
/// The server never sends `Access-Control-Allow-Credentials`, so scripts cannot read responses to requests with
/// cookies. They must send tokens instead.
struct CrossOrigin: Sendable {
    private var registry: CachedRegistry
    private var store: any ClientStore
    private var log: CrossOriginLog

    init(
        registry: CachedRegistry, store: any ClientStore, issuer: Issuer, logger: Logger,
        clock: @escaping @Sendable () -> Date
    ) {
        self.registry = registry
        self.store = store
        log = CrossOriginLog(issuer: issuer, logger: logger, clock: clock)
    }

    /// Returns these rules with what works for one request.
    func serving(registry: CachedRegistry, store: any ClientStore, logger: Logger) -> CrossOrigin {
        var bound = self
        bound.registry = registry
        bound.store = store
        bound.log.logger = logger
        return bound
    }

    /// The time in seconds for which a browser may cache a preflight response.
    private static let maxAge = 3600

    /// Returns the response to a CORS preflight request; nil for any other request, and for one that is not allowed.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - endpoint: The endpoint of the request.
    ///   - allowedFields: The header fields that scripts may send (``ServerSettings/crossOriginFields``).
    func preflight(
        _ request: IncomingRequest, at endpoint: Endpoint, allowing allowedFields: [String]
    ) async -> Reply? {
        let fields = request.head.headerFields
        guard request.head.method == .options, fields[.origin] != nil, fields[.accessControlRequestMethod] != nil
        else { return nil }
        let allowed = Reply(
            .noContent,
            fields: [
                .accessControlAllowMethods: endpoint.methods.map(\.rawValue).joined(separator: ", "),
                .accessControlAllowHeaders: allowedFields.joined(separator: ", "),
                .accessControlMaxAge: String(Self.maxAge),
            ])
        switch endpoint.scriptAccess {
        case .none: return nil
        case .everyone: return allowed.readable(from: "*")
        case .registered:
            guard let origin = WebOrigin(ofRequestWith: fields) else {
                log.noteRefusedPreflight(request, at: endpoint)
                return nil
            }
            // If the store is unavailable, no script may read the response.
            guard let isRegistered = try? await store.isRegistered(origin) else { return nil }
            guard isRegistered else {
                log.noteRefusedPreflight(request, at: endpoint)
                return nil
            }
            return allowed.varyingByOrigin.readable(from: origin.rawValue)
        }
    }

    /// Returns the response to any other request, with the CORS fields if scripts of its origin may read it.
    func share(
        _ reply: Reply, to request: IncomingRequest, at endpoint: Endpoint, of client: RequestingClient
    ) async -> Reply {
        switch endpoint.scriptAccess {
        case .none: return reply
        case .everyone: return reply.readable(from: "*")
        case .registered:
            let reply = reply.varyingByOrigin
            let fields = request.head.headerFields
            // Without an origin no script reads the response, and the store is not asked. No script can send OPTIONS:
            // the browser sends it as a preflight request.
            guard fields[.origin] != nil, request.head.method != .options else { return reply }
            guard let origin = WebOrigin(ofRequestWith: fields) else {
                if let registered = await registration(of: client) {
                    log.noteUnregisteredOrigin(request, at: endpoint, of: registered)
                }
                return reply
            }
            return await share(reply, with: origin, request, at: endpoint, of: client)
        }
    }

    private func share(
        _ reply: Reply, with origin: WebOrigin, _ request: IncomingRequest, at endpoint: Endpoint,
        of client: RequestingClient
    ) async -> Reply {
        if case .unknown = client {
            // Only an error can be the response to an unknown client. An endpoint that records no client shares
            // nothing else.
            guard reply.status.code >= 400, (try? await store.isRegistered(origin)) == true else { return reply }
            return reply.readable(from: origin.rawValue)
        }
        guard let registered = await registration(of: client) else { return reply }
        guard registered.allows(origin) else {
            log.noteUnregisteredOrigin(request, at: endpoint, of: registered)
            return reply
        }
        return reply.readable(from: origin.rawValue)
    }

    /// Returns the client of a request; nil if there is none, or if the store is unavailable.
    private func registration(of client: RequestingClient) async -> RegisteredClient? {
        switch client {
        case .unknown: nil
        case .registered(let client): client
        case .ofToken(let id): try? await registry.fresh().client(id)
        }
    }
}

/// The log of requests whose responses scripts cannot read because their origin is not registered.
///
/// A browser tells the developer of the script only that the response was blocked. Everyone can cause these lines, so
/// their number is limited.
private struct CrossOriginLog: Sendable {
    let issuer: Issuer
    var logger: Logger
    let clock: @Sendable () -> Date
    private let preflights = LogLimiter(linesPerMinute: CrossOriginLog.linesPerMinute)
    private let responses = LogLimiter(linesPerMinute: CrossOriginLog.linesPerMinute)

    /// The maximum number of lines of each kind in a minute.
    private static let linesPerMinute = 60
    /// The maximum number of registered origins in a line.
    private static let shownOrigins = 5

    init(issuer: Issuer, logger: Logger, clock: @escaping @Sendable () -> Date) {
        self.issuer = issuer
        self.logger = logger
        self.clock = clock
    }

    func noteRefusedPreflight(_ request: IncomingRequest, at endpoint: Endpoint) {
        guard let leftOut = preflights.admit(now: clock()) else { return }
        logger.notice(
            "refused CORS preflight request: no client has registered the origin",
            metadata: fields(of: request, at: endpoint, leftOut: leftOut))
    }

    func noteUnregisteredOrigin(_ request: IncomingRequest, at endpoint: Endpoint, of client: RegisteredClient) {
        // The scripts of this server need no CORS fields.
        guard request.head.headerFields[.origin] != issuer.origin, let leftOut = responses.admit(now: clock())
        else { return }
        var fields = fields(of: request, at: endpoint, leftOut: leftOut)
        fields["client_id"] = "\(EscapedText(client.id.rawValue))"
        fields["type"] = "\(client.type.rawValue)"
        let shown = client.origins.prefix(Self.shownOrigins).map { EscapedText($0.rawValue).description }
        let more = client.origins.count - shown.count
        fields["registered"] = "\(shown.isEmpty ? "none" : shown.joined(separator: " "))\(more > 0 ? " +\(more)" : "")"
        logger.notice("sent no CORS headers: the origin is not registered for the client", metadata: fields)
    }

    private func fields(of request: IncomingRequest, at endpoint: Endpoint, leftOut: Int) -> Logger.Metadata {
        let origins = request.head.headerFields[values: .origin].joined(separator: ",")
        var fields: Logger.Metadata = [
            "origin": "\(EscapedText(origins))", "endpoint": "\(endpoint)", "request": "\(request.id)",
        ]
        if leftOut > 0 { fields["left_out"] = "\(leftOut)" }
        return fields
    }
}

extension WebOrigin {
    /// Parses the `Origin` field of a request; nil unless there is exactly one valid value.
    fileprivate init?(ofRequestWith fields: HTTPFields) {
        let values = fields[values: .origin]
        guard values.count == 1 else { return nil }
        self.init(values[0])
    }
}

extension Reply {
    /// The response with `Vary: Origin`, so that a cache does not return it to another origin.
    fileprivate var varyingByOrigin: Reply {
        var reply = self
        reply.fields.append(HTTPField(name: .vary, value: "Origin"))
        return reply
    }

    /// Returns the response with the fields that let scripts of an origin read it; `*` stands for all origins.
    fileprivate func readable(from origin: String) -> Reply {
        var reply = self
        reply.fields[.accessControlAllowOrigin] = origin
        let sent = ([.eTag, .location] + EventFields.all).filter { fields[$0] != nil }.map(\.rawName)
        reply.fields[.accessControlExposeHeaders] =
            (["WWW-Authenticate", "Retry-After", "DPoP-Nonce", "X-Request-ID"] + sent).joined(separator: ", ")
        return reply
    }
}

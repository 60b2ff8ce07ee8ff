import CounterfoilProtocol
public import CounterfoilServer
import HTTPTypes
public import Hummingbird
public import Logging
import NIOCore

/// Carries requests of Hummingbird to the authorization server and answers back.
///
/// The route table is exact: a path is one of those that the server names, or there is nothing. Bodies are bounded before
/// they are read.
public final class AuthorizationServerResponder: HTTPResponder {
    /// The context that tells where a connection comes from.
    public typealias Context = ConnectionContext

    /// The most bytes of a request target.
    private static let targetLimit = 32 * 1024

    private let server: AuthorizationServer
    private let logger: Logger
    private let renderer: PageRenderer
    private let routes: RouteTable
    private let prefix: String
    private let responseFields: ResponseFields
    private let trustedProxies: TrustedProxies

    /// Makes the route table of a server.
    ///
    /// - Parameter trustedProxies: whose word on where a request comes from is taken.
    public init(_ server: AuthorizationServer, logger: Logger, trustedProxies: TrustedProxies = .none) throws {
        self.trustedProxies = trustedProxies
        let issuer = server.settings.issuer
        self.server = server
        self.logger = logger
        renderer = try PageRenderer(prefix: issuer.path)
        responseFields = ResponseFields(issuer: issuer)
        routes = RouteTable(issuer)
        prefix = issuer.path
    }

    /// Answers a request.
    public func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        let start = ContinuousClock.now
        let source = trustedProxies.source(of: request.headers, from: context.address)
        let unread = IncomingRequest(head: request.head, source: source, id: context.id)
        let target = request.head.path ?? "/"
        let path = String(target.prefix(Self.targetLimit).prefix { $0 != "?" })
        let route = target.utf8.count <= Self.targetLimit ? routes.route(path) : nil
        func note(_ status: HTTPResponse.Status) {
            server.noteAnswer(to: unread, at: route?.endpoint, status: status, after: .now - start)
        }
        do {
            let response = try await respond(to: request, unread, at: path, by: route)
            note(response.status)
            return response
        } catch {
            note(.internalServerError)
            throw error
        }
    }

    private func respond(
        to request: Request, _ unread: IncomingRequest, at path: String, by route: RouteTable.Route?
    ) async throws -> Response {
        guard (request.head.path ?? "/").utf8.count <= Self.targetLimit else {
            return try response(
                await server.refuse(unread, .targetTooLong(limit: Self.targetLimit), as: .page), to: request)
        }
        if let route { return try await respond(to: request, unread, by: route) }
        if path.hasPrefix(prefix), let asset = Asset.named(String(path.dropFirst(prefix.count))) {
            return response(asset, to: request)
        }
        return try response(await server.refuse(unread, .notFound, as: .page), to: request)
    }

    private func respond(
        to request: Request, _ unread: IncomingRequest, by route: RouteTable.Route
    ) async throws -> Response {
        let endpoint = route.endpoint
        func refused(_ refusal: Refusal) async throws -> Response {
            let reply = await server.refuse(unread, refusal, at: endpoint)
            return try response(reply, to: request)
        }
        let body: [UInt8]
        do {
            // Reading costs nothing where there is nothing to read.
            body = request.method == .get ? [] : Array(buffer: try await request.body.collect(upTo: endpoint.bodyLimit))
        } catch is NIOTooManyBytesError {
            return try await refused(.tooLarge(limit: endpoint.bodyLimit))
        } catch is SlowRequestHandler.BodyTooSlow {
            return try await refused(.tooSlow)
        }
        let incoming = IncomingRequest(
            head: request.head, body: body, source: unread.source, id: unread.id, parameters: route.parameters)
        return try response(await server.respond(to: incoming, at: endpoint), to: request)
    }

    private func response(_ reply: Reply, to request: Request) throws -> Response {
        var fields = reply.fields
        var content = ResponseFields.Content.plain
        let bytes: [UInt8]
        switch reply.content {
        case .none:
            bytes = []
        case .json(let json):
            bytes = json
            fields[.contentType] = "application/json"
        case .signed(let token, let type):
            bytes = Array(token.utf8)
            fields[.contentType] = "application/\(type)"
        case .image(let logo):
            bytes = logo.bytes
            fields[.contentType] = logo.format.rawValue
        case .page(let page):
            let frame = reply.frame ?? Frame(site: Site(Branding(), settings: server.settings))
            let began = ContinuousClock.now
            bytes = try renderer.render(page, in: frame)
            logger.debug(
                "rendered a page",
                metadata: [
                    "page": "\(Mirror(reflecting: page).children.first?.label ?? "")",
                    "microseconds": "\(Int((ContinuousClock.now - began) / .microseconds(1)))",
                ])
            if page.console != nil { content = .console }
            if case .goOn(let page) = page, !page.fields.isEmpty { content = .posting(to: page.destination) }
            fields[.contentType] = "text/html; charset=utf-8"
        }
        responseFields.add(to: &fields, for: content)
        return Response(status: reply.status, headers: fields, body: body(bytes, to: request))
    }

    private func response(_ asset: Asset, to request: Request) -> Response {
        guard request.method == .get || request.method == .head else {
            var fields: HTTPFields = [.allow: "GET, HEAD", .cacheControl: "no-store"]
            responseFields.add(to: &fields)
            return Response(status: .methodNotAllowed, headers: fields)
        }
        var fields: HTTPFields = [
            .contentType: asset.contentType, .cacheControl: "public, max-age=31536000, immutable",
        ]
        responseFields.add(to: &fields)
        return Response(status: .ok, headers: fields, body: body(asset.bytes, to: request))
    }

    private func body(_ bytes: [UInt8], to request: Request) -> ResponseBody {
        guard request.method == .head else { return ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) }
        return ResponseBody(contentLength: bytes.count) { writer in try await writer.finish(nil) }
    }
}

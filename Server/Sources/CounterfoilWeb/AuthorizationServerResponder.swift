import CounterfoilPages
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPListener
import HTTPTypes
import IPAddresses
import Logging

/// Passes HTTP requests to the authorization server and converts its replies to HTTP responses.
///
/// A path must match a route or the path of a static file exactly; any other path gets status 404. The listener
/// enforces the limits of body sizes while it reads a body.
final class AuthorizationServerResponder: Responder {
    /// The maximum length of a request target in bytes.
    private static let targetLimit = 32 * 1024

    private let server: AuthorizationServer
    private let logger: Logger
    private let renderer: PageRenderer
    private let routing: Routing
    private let prefix: String
    private let currentFields: Mutex<ResponseFields>
    private let trustedProxies: @Sendable () -> TrustedProxies
    /// The tracing of requests; nil if no request is traced.
    private let tracing: RequestTracing?
    private let date = DateField()

    /// Creates a responder for a server.
    ///
    /// - Parameters:
    ///   - server: The server that responds.
    ///   - logger: The logger for errors.
    ///   - tracing: The tracing of requests; nil for none.
    ///   - trustedProxies: A function that returns the proxies whose forwarding fields are trusted.
    /// - Throws: An error that names the defect, if the catalogue of localized messages is defective.
    init(
        _ server: AuthorizationServer, logger: Logger, tracing: RequestTracing? = nil,
        trustedProxies: @escaping @Sendable () -> TrustedProxies
    ) throws {
        self.trustedProxies = trustedProxies
        self.tracing = tracing
        let settings = server.settings
        let issuer = settings.issuer
        self.server = server
        self.logger = logger
        renderer = try PageRenderer(pages: server.pages, prefix: issuer.path)
        currentFields = Mutex(ResponseFields(settings))
        routing = server.routing
        prefix = issuer.path
    }

    /// The security header fields, which follow the settings of the server.
    private var responseFields: ResponseFields {
        let age = server.strictTransportAge
        return currentFields.withLock { fields in
            if fields.strictTransportAge != age { fields = ResponseFields(server.settings) }
            return fields
        }
    }

    /// Returns the rules for the rest of a request, and its answer, by its host name and path.
    ///
    /// Some endpoints accept a large body from signed-in users only. A request that waited while the process was paused
    /// is refused if its answer depends on what other servers on the store have done since: a repeated refresh would
    /// look like that of a thief, and end the grant of the user. The shortest pause and ``RequestContext/timeLimit``
    /// together are less than the shortest default of the grace period in which a client can retry a refresh.
    func routed(_ head: HTTPRequest, from address: IPAddress?) -> RoutedRequest {
        let head = routed(head)
        let endpoint = head.outcome.route?.endpoint
        var admitsLargeBody: (@Sendable () async -> Bool)?
        if let endpoint, endpoint.bodyNeedsSession {
            admitsLargeBody = {
                await self.server.admitsLargeBody(self.incoming(head, from: address).request, at: endpoint)
            }
        }
        return RoutedRequest(
            head.request, bodyLimit: head.bodyLimit, admitsLargeBody: admitsLargeBody,
            isRefusedAfterPause: endpoint.map { !$0.answersWithoutStore } ?? false
        ) { await self.respond(to: $0, head, from: address) }
    }

    /// Routes a request by its host name and path, unless the request target is longer than `targetLimit`.
    private func routed(_ head: HTTPRequest) -> RoutedHead {
        guard (head.path ?? "/").utf8.count <= Self.targetLimit else {
            return RoutedHead(request: head, outcome: .noEndpoint, targetIsTooLong: true)
        }
        let outcome = routing.outcome(of: head, path: Self.path(of: head))
        return RoutedHead(request: head, outcome: outcome, targetIsTooLong: false)
    }

    /// Responds to a request, in a span if it is traced.
    private func respond(
        to request: ReceivedRequest, _ head: RoutedHead, from address: IPAddress?
    ) async -> Answer {
        let start = ContinuousClock.now
        let (received, parent) = incoming(
            head, body: head.request.method == .get ? [] : request.body, from: address)
        var incoming = received
        let span = tracing?.begin(
            .request(head.request, id: incoming.id, at: head.outcome.route?.endpoint, of: server.settings.issuer),
            after: parent)
        incoming.context.span = span
        let answer = await respond(to: request, head, incoming, since: start)
        span?.note(.status(answer.head.status.code))
        span?.end(isError: answer.head.status.code >= 500)
        return answer
    }

    /// Responds to a request.
    ///
    /// An error of the server becomes a response with status 500.
    private func respond(
        to request: ReceivedRequest, _ head: RoutedHead, _ incoming: IncomingRequest,
        since start: ContinuousClock.Instant
    ) async -> Answer {
        var answer: Answer
        do {
            answer = try await respond(to: request, head, incoming)
        } catch {
            logger.serving(incoming.context).error(
                "failed to create a response", metadata: ["error": "\(error)", "request": "\(incoming.id)"])
            answer = (HTTPResponse(status: .internalServerError, headerFields: [.contentLength: "0"]), [])
        }
        answer.head.headerFields.append(HTTPField(name: .date, value: date.text()))
        // The log line of the request and the audit event of a refusal have it, too.
        if let name = RequestIdentity.requestField {
            answer.head.headerFields.append(HTTPField(name: name, value: incoming.id))
        }
        server.noteAnswer(
            to: incoming, at: head.outcome.route?.endpoint, status: answer.head.status, after: .now - start)
        return answer
    }

    private func respond(
        to request: ReceivedRequest, _ head: RoutedHead, _ incoming: IncomingRequest
    ) async throws -> Answer {
        let outcome = head.outcome
        func refused(_ refusal: Refusal) async throws -> Answer {
            guard let endpoint = outcome.route?.endpoint else {
                return try answer(await server.refuse(incoming, refusal), to: incoming)
            }
            return try answer(await server.refuse(incoming, refusal, at: endpoint), to: incoming, at: endpoint)
        }
        if head.targetIsTooLong { return try await refused(.targetTooLong(limit: Self.targetLimit)) }
        switch request {
        case .late: return try await refused(.tooSlow)
        case .overloaded: return try await refused(.overloaded)
        case .delayed: return try await refused(.delayed)
        // A body that is too large gets status 413 only if an endpoint has the path and supports the method. Otherwise
        // the request gets status 404 or 405.
        case .tooLarge where head.takesMethod:
            return try await refused(.tooLarge(limit: head.bodyLimit))
        case .whole, .tooLarge: break
        }
        switch outcome {
        case .endpoint(let route):
            return try answer(
                await server.respond(to: incoming, at: route.endpoint), to: incoming, at: route.endpoint)
        case .noEndpoint:
            guard let asset = asset(at: incoming) else { return try await refused(.notFound) }
            return answer(asset, to: incoming)
        case .notAtCallbackOrigin:
            guard let asset = asset(at: incoming), asset.isStylesheet else { return try await refused(.notFound) }
            return answer(asset, to: incoming)
        case .misdirected: return try await refused(.misdirected)
        }
    }

    /// Returns a request, and the span in which a trusted proxy sent it.
    private func incoming(
        _ head: RoutedHead, body: [UInt8] = [], from address: IPAddress?
    ) -> (request: IncomingRequest, parent: TraceParent?) {
        let fields = head.request.headerFields
        let trustedProxies = trustedProxies()
        let isProxied = address.map(trustedProxies.trusts) ?? false
        let parent = isProxied ? RequestIdentity.parent(in: fields) : nil
        let request = IncomingRequest(
            head: head.request, body: body, source: trustedProxies.source(of: fields, from: address),
            id: (isProxied ? RequestIdentity.request(in: fields) : nil) ?? RequestIdentity.random(),
            trace: parent?.traceID, parameters: head.outcome.route?.parameters ?? PathParameters())
        return (request, parent)
    }

    private func asset(at request: IncomingRequest) -> Asset? {
        let path = Self.path(of: request.head)
        return path.hasPrefix(prefix) ? Asset.named(String(path.dropFirst(prefix.count))) : nil
    }

    private static func path(of head: HTTPRequest) -> Substring {
        let target = head.path ?? "/"
        return target[..<(target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex)]
    }

    private func answer(_ reply: Reply, to request: IncomingRequest, at endpoint: Endpoint? = nil) throws -> Answer {
        var fields = reply.fields
        var content = ResponseFields.Content.plain
        let bytes: [UInt8]
        switch reply.content {
        case .none:
            bytes = []
        case .json(let json):
            bytes = json
            fields[.contentType] = "application/json"
        case .problem(let json):
            bytes = json
            fields[.contentType] = "application/problem+json"
        case .scim(let json):
            bytes = json
            fields[.contentType] = "application/scim+json"
        case .signed(let token, let type):
            bytes = Array(token.utf8)
            fields[.contentType] = "application/\(type)"
        case .image(let logo):
            bytes = logo.bytes
            fields[.contentType] = logo.format.rawValue
        case .file(let file, let type):
            bytes = file
            fields[.contentType] = type
        case .page(let page):
            let frame = reply.frame ?? Frame(site: Site(Branding(), settings: server.settings))
            let began = ContinuousClock.now
            bytes = try renderer.render(page, in: frame)
            logger.serving(request.context).debug(
                "rendered a page",
                metadata: [
                    "page": "\(type(of: page).template)",
                    "microseconds": "\(Int((ContinuousClock.now - began) / .microseconds(1)))",
                ])
            content = ResponseFields.Content(page)
            fields[.contentType] = "text/html; charset=utf-8"
        }
        responseFields.add(to: &fields, for: content, keepsOpener: endpoint?.keepsOpener == true)
        return answer(reply.status, fields, bytes, to: request)
    }

    private func answer(_ asset: Asset, to request: IncomingRequest) -> Answer {
        guard request.head.method == .get || request.head.method == .head else {
            var fields: HTTPFields = [.allow: "GET, HEAD", .cacheControl: "no-store"]
            responseFields.add(to: &fields)
            return answer(.methodNotAllowed, fields, [], to: request)
        }
        var fields: HTTPFields = [
            .contentType: asset.contentType, .cacheControl: "public, max-age=31536000, immutable",
        ]
        responseFields.add(to: &fields)
        return answer(.ok, fields, asset.bytes, to: request)
    }

    /// Builds a response.
    ///
    /// A response to HEAD has the `Content-Length` of the body but not the body (RFC 9110 §9.3.2).
    private func answer(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: [UInt8], to request: IncomingRequest
    ) -> Answer {
        var head = HTTPResponse(status: status, headerFields: fields)
        // RFC 9110 §8.6: a response with status 204 or 304 gets no `Content-Length` here.
        if status != .noContent, status != .notModified {
            head.headerFields.append(HTTPField(name: .contentLength, value: String(body.count)))
        }
        return (head, request.head.method == .head ? [] : body)
    }
}

/// The head of a request, with the result of routing by host name and path.
private struct RoutedHead: Sendable {
    let request: HTTPRequest
    let outcome: Routing.Outcome
    /// Whether the request target exceeds its limit.
    ///
    /// A request with such a target is not routed.
    let targetIsTooLong: Bool

    /// Whether the endpoint supports the method of the request.
    var takesMethod: Bool { outcome.route?.endpoint.methods.contains(request.method) ?? false }

    /// The maximum length of the body in bytes; 0 for a method that the endpoint does not support.
    var bodyLimit: Int { takesMethod ? outcome.route?.endpoint.bodyLimit ?? 0 : 0 }
}

extension ReceivedRequest {
    /// The body; empty if the request is refused.
    fileprivate var body: [UInt8] { if case .whole(let body) = self { body } else { [] } }
}

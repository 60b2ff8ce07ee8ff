import Foundation
public import HTTPTypes

/// The response to a request for the metadata of an API.
///
/// The document is public: scripts of every origin can read it, and no request needs a token.
public struct MetadataResponse: Sendable, Hashable {
    /// The HTTP status: 200 with the document, 204 for a CORS preflight request, or 405.
    public let status: HTTPResponse.Status
    /// The header fields.
    public let headerFields: HTTPFields
    /// The document; empty if the status is not 200.
    public let body: [UInt8]

    private init(_ status: HTTPResponse.Status, _ fields: HTTPFields, body: [UInt8] = []) {
        self.status = status
        headerFields = fields
        self.body = body
    }

    /// The header fields that scripts may send; MCP clients send `MCP-Protocol-Version` with each request, and
    /// libraries for tracing the last four.
    private static let allowedFields =
        "Content-Type, Authorization, DPoP, MCP-Protocol-Version, X-Requested-With, traceparent, tracestate, baggage, "
        + "sentry-trace"

    static func document(_ document: [UInt8]) -> MetadataResponse {
        MetadataResponse(
            .ok,
            [
                .contentType: "application/json", .cacheControl: "public, max-age=300",
                .accessControlAllowOrigin: "*",
            ], body: document)
    }

    static let preflight = MetadataResponse(
        .noContent,
        [
            .accessControlAllowOrigin: "*", .accessControlAllowMethods: "GET, HEAD",
            .accessControlAllowHeaders: allowedFields, .accessControlMaxAge: "3600",
        ])

    static let wrongMethod = MetadataResponse(
        .methodNotAllowed, [.allow: "GET, HEAD, OPTIONS", .accessControlAllowOrigin: "*"])
}

extension ProtectedResourceMetadata {
    /// Returns the response to a request for ``url``; nil for a request for any other URL.
    ///
    /// Only the path and the query are compared. For a request with the method HEAD, the response contains the
    /// document, which the HTTP server omits.
    public func response(to request: HTTPRequest) -> MetadataResponse? {
        guard let asked = request.path, isTarget(asked) else { return nil }
        return switch request.method {
        case .get, .head: .document(encoded())
        case .options: .preflight
        default: .wrongMethod
        }
    }

    /// Returns true if a request target is that of the document; a query makes no difference unless the URL of the API
    /// has one.
    private func isTarget(_ asked: String) -> Bool {
        if target.contains("?") { return asked == target }
        return asked.prefix { $0 != "?" } == target
    }
}

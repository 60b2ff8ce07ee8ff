public import CounterfoilProtocol
public import Foundation
public import HTTPTypes

/// A request that a scripted server received.
public struct RecordedRequest: Sendable {
    /// The endpoint at the path of the request, or ``ScriptedEndpoint/unknown``.
    public let endpoint: ScriptedEndpoint
    /// The time of arrival by the system clock, to which ``ServerScript/clockOffset`` is not added.
    public let time: Date
    /// The method, the path with its query, and the header fields.
    public let head: HTTPRequest
    /// The body; a request with more than ``byteLimit`` bytes is rejected and not recorded.
    public let body: [UInt8]
    /// The decoded parameters of the query; empty if the query cannot be parsed.
    public let query: RecordedParameters
    /// The decoded parameters of a form-encoded body; empty if the body has another content type.
    public let form: RecordedParameters

    /// The maximum length of a body, in bytes.
    public static let byteLimit = 256 * 1024

    init(endpoint: ScriptedEndpoint, time: Date, head: HTTPRequest, body: [UInt8]) {
        self.endpoint = endpoint
        self.time = time
        self.head = head
        self.body = body
        query = RecordedParameters(Array((head.path ?? "").utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()))
        let isForm = (head.headerFields[.contentType] ?? "").lowercased()
            .hasPrefix("application/x-www-form-urlencoded")
        form = RecordedParameters(isForm ? body : [])
    }

    /// The HTTP method; the server requires POST only for token, pushed authorization and registration requests.
    public var method: HTTPRequest.Method { head.method }
    /// The path without the query.
    public var path: String { String((head.path ?? "").prefix { $0 != "?" }) }
    /// The header fields; a lookup by name ignores case.
    public var headerFields: HTTPFields { head.headerFields }
    /// The value of `Authorization`; nil if the request does not have this field.
    public var authorization: String? { head.headerFields[.authorization] }
    /// The value of `Origin`, which browsers send and native clients do not; nil if the request does not have it.
    public var origin: String? { field("Origin") }
    /// The body as UTF-8 text; invalid bytes are replaced with U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// The body as JSON, or nil if it is not valid JSON.
    public var json: WireValue? { try? JSONDecoder().decode(WireValue.self, from: Data(body)) }

    /// Returns the value of a header field, or nil if the request does not have it.
    public func field(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { head.headerFields[$0] }
    }
}

/// The parameters of a query or a form, in the order in which they were sent.
public struct RecordedParameters: Sendable, Hashable {
    /// The parameters; empty if the query or the form cannot be parsed.
    public let pairs: [FormParameters.Pair]

    init(_ bytes: [UInt8]) {
        pairs = (try? FormParameters(parsing: bytes, byteLimit: RecordedRequest.byteLimit))?.pairs ?? []
    }

    init(_ pairs: [FormParameters.Pair]) { self.pairs = pairs }

    /// The parameter names, in order; a repeated parameter occurs several times.
    public var names: [String] { pairs.map(\.name) }

    /// The first value of a parameter, which may be empty; nil if the parameter is missing.
    public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// Returns every value of a parameter, in order.
    public func all(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }
}

public import CounterfoilProtocol
public import Foundation
public import HTTPTypes

/// A request as it arrived at a scripted server.
public struct RecordedRequest: Sendable {
    /// What was asked for, as far as the server knows it.
    public let endpoint: ScriptedEndpoint
    /// When it arrived, by the server's clock without its offset.
    public let time: Date
    /// Method, path with query, and header fields.
    public let head: HTTPRequest
    /// The body; a long one is kept in part (see ``byteLimit``).
    public let body: [UInt8]
    /// The parameters of the query.
    public let query: RecordedParameters
    /// The parameters of a form body.
    public let form: RecordedParameters

    /// The most bytes of a body that are read.
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

    /// The method.
    public var method: HTTPRequest.Method { head.method }
    /// The path, without query.
    public var path: String { String((head.path ?? "").prefix { $0 != "?" }) }
    /// The header fields.
    public var headerFields: HTTPFields { head.headerFields }
    /// The value of `Authorization`.
    public var authorization: String? { head.headerFields[.authorization] }
    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// The body as JSON, or nil.
    public var json: WireValue? { try? JSONDecoder().decode(WireValue.self, from: Data(body)) }

    /// The value of a header field, or nil.
    public func field(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { head.headerFields[$0] }
    }
}

/// The parameters of a query or a form, in the order of the wire.
public struct RecordedParameters: Sendable, Hashable {
    /// The pairs; empty when the text was none of parameters.
    public let pairs: [FormParameters.Pair]

    init(_ bytes: [UInt8]) {
        pairs = (try? FormParameters(parsing: bytes, byteLimit: RecordedRequest.byteLimit))?.pairs ?? []
    }

    init(_ pairs: [FormParameters.Pair]) { self.pairs = pairs }

    /// The names, in order.
    public var names: [String] { pairs.map(\.name) }

    /// The first value of a name, which may be empty; nil when the name is not there.
    public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// Every value of a name, in order.
    public func all(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }
}

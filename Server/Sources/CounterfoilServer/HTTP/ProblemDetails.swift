import Foundation
import HTTPTypes

/// The body of an error response of the administration API, `application/problem+json` (RFC 9457 §3).
package struct ProblemDetails: Sendable, Hashable {
    /// A part of the request that was refused, with the reason.
    package struct Part: Sendable, Hashable, Encodable {
        /// The JSON Pointer of a member of the body (RFC 6901); nil for another part.
        var pointer: String?
        /// The name of a query parameter; nil for another part.
        var parameter: String?
        /// The name of a header field; nil for another part.
        var header: String?
        /// The reason and the remedy.
        let detail: String

        static func member(_ name: String, _ detail: String) -> Part {
            let escaped = name.replacing("~", with: "~0").replacing("/", with: "~1")
            return Part(pointer: "/" + escaped, detail: detail)
        }

        static func parameter(_ name: String, _ detail: String) -> Part { Part(parameter: name, detail: detail) }

        static func header(_ name: String, _ detail: String) -> Part { Part(header: name, detail: detail) }
    }

    let status: HTTPResponse.Status
    /// The name of the kind of problem, which ends the member `type`; nil for a problem that the status explains.
    let kind: String?
    /// The explanation of this problem; nil if the status says all.
    let detail: String?
    /// The refused parts of the request.
    let parts: [Part]

    init(_ status: HTTPResponse.Status, _ kind: String? = nil, detail: String? = nil, parts: [Part] = []) {
        self.status = status
        self.kind = kind
        self.detail = detail
        self.parts = parts
    }

    /// The text for the log.
    var logged: String {
        let names = parts.compactMap { $0.pointer ?? $0.parameter ?? $0.header }
        return ([detail ?? kind ?? status.reasonPhrase] + names).joined(separator: " ")
    }

    /// Returns the JSON.
    func encoded() -> [UInt8] {
        // Sorted keys make responses with the same content identical.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { Array($0) } ?? Array("{}".utf8)
    }
}

extension ProblemDetails: Encodable {
    private enum CodingKeys: String, CodingKey { case type, title, status, detail, errors }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(kind.map { "urn:counterfoil:problem:\($0)" } ?? "about:blank", forKey: .type)
        try members.encode(status.reasonPhrase, forKey: .title)
        try members.encode(status.code, forKey: .status)
        try members.encodeIfPresent(detail, forKey: .detail)
        if !parts.isEmpty { try members.encode(parts, forKey: .errors) }
    }
}

/// A request to the administration API that is refused.
package struct ProblemError: Error, Sendable {
    let details: ProblemDetails
    let fields: HTTPFields

    init(_ details: ProblemDetails, fields: HTTPFields = [:]) {
        self.details = details
        self.fields = fields
    }

    init(
        _ status: HTTPResponse.Status, _ kind: String, _ detail: String, parts: [ProblemDetails.Part] = [],
        fields: HTTPFields = [:]
    ) {
        self.init(ProblemDetails(status, kind, detail: detail, parts: parts), fields: fields)
    }
}

extension ProblemError: Refusing {
    var refusal: Refusal { Refusal(details, fields: fields) }
}

extension Endpoint {
    /// The recipient of the error responses.
    var reader: Refusal.Reader {
        if speaksSCIM { return .scim }
        if isOfAdministrationAPI { return .problem }
        return answersUsers ? .page : .json
    }
}

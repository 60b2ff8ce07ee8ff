import Foundation
import HTTPTypes

/// The value of `scimType` in an error of SCIM (RFC 7644 §3.12).
enum SCIMErrorType: String, Sendable {
    case invalidFilter, invalidPath, invalidSyntax, invalidValue, mutability, noTarget, tooMany, uniqueness

    /// The type of a problem, by its name; nil for a problem that the status explains.
    init?(ofProblem kind: String) {
        switch kind {
        case "malformed-json": self = .invalidSyntax
        case "username-taken", "email-taken": self = .uniqueness
        default: self.init(rawValue: kind)
        }
    }
}

extension ProblemError {
    /// Creates the refusal of a SCIM request (RFC 7644 §3.12).
    init(_ type: SCIMErrorType, _ detail: String) {
        self.init(.badRequest, type.rawValue, detail)
    }
}

extension ProblemDetails {
    /// Returns the JSON in the form of SCIM (RFC 7644 §3.12).
    func encodedForSCIM() -> [UInt8] {
        let document = SCIMErrorDocument(
            scimType: kind.flatMap(SCIMErrorType.init(ofProblem:))?.rawValue, detail: detail ?? status.reasonPhrase,
            status: String(status.code))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(document)).map { Array($0) } ?? Array("{}".utf8)
    }
}

private struct SCIMErrorDocument: Encodable {
    let schemas = ["urn:ietf:params:scim:api:messages:2.0:Error"]
    let scimType: String?
    let detail: String
    let status: String
}

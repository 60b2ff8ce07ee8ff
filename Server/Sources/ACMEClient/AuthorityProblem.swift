/// The reason that an authority gives for a refusal: a problem document (RFC 8555 §6.7, RFC 9457).
package struct AuthorityProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The last part of the type, such as `rateLimited`; the whole type if it is not one of RFC 8555.
    package let type: String
    private let detail: String
    private let parts: [String]

    /// The maximum number of subproblems in the description.
    private static let limit = 8
    private static let prefix = "urn:ietf:params:acme:error:"

    /// Reads a problem; one that is a part of another has no parts.
    init(_ members: JSONMembers, isPart: Bool = false) {
        let full = members.text("type") ?? "about:blank"
        type = LogText.of(full.hasPrefix(Self.prefix) ? String(full.dropFirst(Self.prefix.count)) : full)
        detail = LogText.of(members.text("detail") ?? "")
        // RFC 8555 §6.7.1: one for each identifier.
        let list = isPart ? [] : members.objects("subproblems") ?? []
        parts = list.prefix(Self.limit).map { part in
            let host = part.object("identifier")?.text("value").map { LogText.of($0) + ": " } ?? ""
            return host + AuthorityProblem(part, isPart: true).description
        }
    }

    /// Creates a problem of a type that no document has.
    init(type: String) { (self.type, detail, parts) = (type, "", []) }

    /// Parses a response; without a problem document, the status is the reason.
    package init(status: Int, body: [UInt8]) {
        if let members = JSONMembers(body), members.text("type") != nil || members.text("detail") != nil {
            self.init(members)
        } else {
            self.init(type: "status \(status)")
        }
    }

    /// The type, the detail and the subproblems.
    package var description: String {
        let own = detail.isEmpty ? type : "\(type): \(detail)"
        return parts.isEmpty ? own : own + " (" + parts.joined(separator: "; ") + ")"
    }
}

/// A text of an authority, made fit for the log.
package enum LogText {
    /// The maximum number of characters.
    private static let limit = 300

    /// Returns a text without control characters, and not longer than a line of the log should be.
    package static func of(_ text: String) -> String {
        let clean = text.unicodeScalars.prefix(limit).map { scalar -> Character in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                "\u{FFFD}"
            default: Character(scalar)
            }
        }
        return String(clean)
    }
}

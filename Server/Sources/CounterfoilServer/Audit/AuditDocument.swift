import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// An audit event in the output of `--json` and in an export.
package struct AuditDocument: Encodable, Sendable {
    package let number: Int
    package let position: String
    package let at: String
    package let kind: String
    package let outcome: String
    package let reason: String?
    package let sub: String?
    package let username: String?
    package let clientID: String?
    package let grantID: String?
    package let source: String?
    package let requestID: String?
    package let detail: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case number, position, at, kind, outcome, reason, sub, username
        case clientID = "client_id"
        case grantID = "grant_id"
        case source
        case requestID = "request_id"
        case detail
    }

    /// Converts entries, with the user names of those accounts that still exist.
    package static func documents(
        of entries: [AuditEntry], in store: any UserStore
    ) async throws(StoreFault) -> [AuditDocument] {
        var names: [UserIdentifier: String?] = [:]
        return try await documents(of: entries, in: store, names: &names)
    }

    /// Converts entries; `names` has the user names that were read before, and nil for an account that does not exist.
    package static func documents(
        of entries: [AuditEntry], in store: any UserStore, names: inout [UserIdentifier: String?]
    ) async throws(StoreFault) -> [AuditDocument] {
        let unread = Set(entries.compactMap(\.event.userID)).filter { names[$0] == nil && !$0.isPseudonym }
        let read = try await store.usernames(of: unread)
        for id in unread { names.updateValue(read[id], forKey: id) }
        return entries.map { AuditDocument($0, names: names) }
    }

    package init(_ entry: AuditEntry, names: [UserIdentifier: String?]) {
        let event = entry.event
        number = entry.number
        position = "\(entry.position)"
        at = Moment.text(event.at)
        kind = event.kind.rawValue
        outcome = event.outcome.rawValue
        reason = event.reason?.rawValue
        sub = event.userID?.rawValue
        username = event.userID.flatMap { names[$0] ?? nil }
        clientID = event.clientID?.rawValue
        grantID = event.grantID?.rawValue
        source = event.source
        requestID = event.requestID
        detail = event.explanation
    }

    /// Returns the event as one line of JSON, with a line feed.
    package func line() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var line = try encoder.encode(self)
        line.append(UInt8(ascii: "\n"))
        return line
    }
}

extension AuditDocument {
    /// The names of the columns as a line of CSV (RFC 4180), which are those of the members in JSON.
    package static let header = csv(CodingKeys.allCases.map(\.rawValue))

    /// Returns a line of CSV (RFC 4180) with the texts of the members, which are empty if one does not apply.
    ///
    /// A text that a spreadsheet would read as a formula begins with an apostrophe.
    package static func row(_ text: (_ member: String) -> String) -> String {
        csv(CodingKeys.allCases.map { text($0.rawValue) })
    }

    /// The event as a line of CSV.
    package var row: String {
        Self.csv(
            CodingKeys.allCases.map { key in
                switch key {
                case .number: String(number)
                case .position: position
                case .at: at
                case .kind: kind
                case .outcome: outcome
                case .reason: reason ?? ""
                case .sub: sub ?? ""
                case .username: username ?? ""
                case .clientID: clientID ?? ""
                case .grantID: grantID ?? ""
                case .source: source ?? ""
                case .requestID: requestID ?? ""
                case .detail: detail ?? ""
                }
            })
    }

    /// The first characters of a formula, also in their full-width forms, and those that spreadsheets skip before one.
    private static let formulaStarts = Set<Unicode.Scalar>("=+-@\t\r\n\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars)

    private static func csv(_ cells: [String]) -> String {
        cells.map { cell in
            let isFormula = cell.unicodeScalars.first.map(formulaStarts.contains) ?? false
            // A quote with a combining character is no Character of its own, but ends the cell for a reader.
            var quoted = String.UnicodeScalarView()
            for scalar in cell.unicodeScalars {
                quoted.append(contentsOf: scalar == "\"" ? [scalar, scalar] : [scalar])
            }
            return "\"\(isFormula ? "'" : "")\(String(quoted))\""
        }
        .joined(separator: ",") + "\r\n"
    }
}

import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// An event for programs: the payload of a webhook, and a line of `events`.
///
/// It has identifiers only: no name, no address and no text for people.
package struct EventDocument: Sendable, Hashable, Encodable {
    /// The version of the form of the document.
    package static let version = 1

    /// The identifier of the event, which is the same at each attempt to send it.
    ///
    /// It is made from the seal of the event. Other than a number, it is not used again for another event after the
    /// store was restored from a copy.
    package let id: String
    /// The position of the event, after which a reader continues: the number of its seal.
    package let cursor: Int
    package let type: EventType
    package let timestamp: Date
    /// The subject identifier of the user; the pseudonym of one who was deleted long ago.
    package let sub: String?
    package let clientID: String?
    package let grantID: String?
    package let requestID: String?
    package let outcome: String
    /// The reason of a refusal.
    package let reason: String?

    /// Creates the document of a sealed event.
    ///
    /// - Parameters:
    ///   - seal: The seal of the event.
    ///   - record: The event.
    ///   - user: The subject identifier of its user.
    package init(_ seal: AuditSeal, _ record: AuditRecord, user: String?) {
        id =
            "evt_"
            + seal.chain.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        cursor = seal.number
        type = EventType(of: record)
        timestamp = record.position.time
        sub = user
        clientID = record.clientID
        grantID = record.grantID
        requestID = record.requestID
        outcome = record.outcome
        reason =
            record.outcome == AuditEvent.Outcome.refused.rawValue
            ? record.detail.flatMap(AuditEvent.Reason.init(of:))?.rawValue : nil
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case type, timestamp, version, id, cursor, data
    }

    private enum DataKeys: String, CodingKey {
        case sub
        case clientID = "client_id"
        case grantID = "grant_id"
        case requestID = "request_id"
        case outcome, reason
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type.rawValue, forKey: .type)
        try container.encode(
            timestamp.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)), forKey: .timestamp)
        try container.encode(Self.version, forKey: .version)
        try container.encode(id, forKey: .id)
        try container.encode(cursor, forKey: .cursor)
        var data = container.nestedContainer(keyedBy: DataKeys.self, forKey: .data)
        try data.encodeIfPresent(sub, forKey: .sub)
        try data.encodeIfPresent(clientID, forKey: .clientID)
        try data.encodeIfPresent(grantID, forKey: .grantID)
        try data.encodeIfPresent(requestID, forKey: .requestID)
        try data.encode(outcome, forKey: .outcome)
        try data.encodeIfPresent(reason, forKey: .reason)
    }

    /// The document as JSON without a line feed.
    package func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}

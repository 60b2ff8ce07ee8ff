import CounterfoilStore
package import Foundation

/// A line of an endings journal.
package enum JournalLine: Sendable, Hashable {
    /// The store has recorded an ending.
    case ending(Ending, identity: String)
    /// The journal has every ending up to a number that happened before a time.
    case mark(Mark)

    /// A statement of a server about the whole journal.
    package struct Mark: Sendable, Hashable {
        package enum Reason: String, Sendable, Codable {
            /// The first line of a file, or of a sequence.
            case begins
            /// A later statement that nothing is missing.
            case current
        }

        package let reason: Reason
        package let identity: String
        /// The sequence that this one continues after a restore; nil if it continues none.
        package let former: String?
        /// The number of the last ending.
        package let number: Int64
        /// The time in microseconds since 1970.
        package let at: Int64
        /// Whether a store with the ending directly before the mark has every ending before it in the journal, or has
        /// ended it again.
        package let isSettled: Bool

        package init(
            _ reason: Reason, of position: EndingsPosition, through number: Int64, at: Int64, isSettled: Bool = false
        ) {
            self.reason = reason
            identity = position.identity
            // A sequence that was continued says so where it begins.
            former = reason == .begins && number == position.first ? position.former : nil
            self.number = number
            self.at = at
            self.isSettled = isSettled
        }

        fileprivate init(_ reason: Reason, _ document: Document, at: Int64) {
            self.reason = reason
            identity = document.journal
            former = document.former
            number = document.number
            self.at = at
            isSettled = document.settled == true
        }
    }

    /// The members of the JSON object.
    fileprivate struct Document: Codable {
        var format: Int
        var journal: String
        var number: Int64
        var at: String
        var ended: String?
        var id: String?
        var detail: String?
        var mark: Mark.Reason?
        var former: String?
        var settled: Bool?

        /// Whether no text has a null character, which PostgreSQL does not store.
        var isStorable: Bool {
            [journal, ended, id, detail, former].allSatisfy { $0?.utf8.contains(0) != true }
        }
    }

    /// The version of the format.
    private static let format = 1
    /// The longest line that is read, in bytes; a line holds scopes at most.
    package static let limit = 1 << 20

    package var identity: String {
        switch self {
        case .ending(_, let identity): identity
        case .mark(let mark): mark.identity
        }
    }

    /// The number of the last ending that the journal has with this line.
    package var number: Int64 {
        switch self {
        case .ending(let ending, _): ending.number
        case .mark(let mark): mark.number
        }
    }

    /// The time in microseconds since 1970.
    package var at: Int64 {
        switch self {
        case .ending(let ending, _): ending.at
        case .mark(let mark): mark.at
        }
    }

    /// Parses a line without its end; nil if it is not one of a format that this version knows.
    package init?(_ bytes: Data) {
        guard bytes.count <= Self.limit, let document = try? JSONDecoder().decode(Document.self, from: bytes),
            document.format == Self.format, document.number >= 0, document.isStorable,
            let at = Self.microseconds(document.at)
        else { return nil }
        switch (document.ended, document.id, document.mark) {
        case (let kind?, let subject?, nil) where document.number > 0:
            let ending = Ending(number: document.number, at: at, kind: kind, subject: subject, detail: document.detail)
            guard ending.hasSubjectOfItsKind else { return nil }
            self = .ending(ending, identity: document.journal)
        case (nil, nil, let reason?): self = .mark(Mark(reason, document, at: at))
        default: return nil
        }
    }

    /// The bytes with which every line begins: the members are sorted by name.
    private static let start = Array("{\"at\":\"".utf8)

    /// Returns true if bytes can be the beginning of a line that was not written completely.
    static func canBegin(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count <= limit && zip(start, bytes).allSatisfy { $0 == $1 }
    }

    /// Reads the time of a line whose end was cut off; nil if too little of it is left.
    static func time(ofCut bytes: some Collection<UInt8>) -> Int64? {
        guard bytes.starts(with: start) else { return nil }
        let text = bytes.dropFirst(start.count).prefix(64)
        guard let end = text.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return microseconds(String(decoding: text[..<end], as: UTF8.self))
    }

    /// The line with its end.
    package var encoded: Data {
        get throws {
            var document = Document(
                format: Self.format, journal: identity, number: number,
                at: Date(microseconds: at).formatted(Self.timeStyle))
            switch self {
            case .ending(let ending, _):
                document.ended = ending.kind
                document.id = ending.subject
                document.detail = ending.detail
            case .mark(let mark):
                document.mark = mark.reason
                document.former = mark.former
                document.settled = mark.isSettled ? true : nil
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(document) + [UInt8(ascii: "\n")]
        }
    }

    private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    private static func microseconds(_ text: String) -> Int64? {
        (try? Date(text, strategy: timeStyle))?.microseconds
    }
}

extension Ending {
    /// Whether the subject has the form that its kind requires; true for a kind of a newer version.
    fileprivate var hasSubjectOfItsKind: Bool {
        switch Kind(name: kind) {
        case .session, .clientSecret, .registrationToken, .invitation:
            subject.utf8.count == 64 && subject.allSatisfy { $0.isASCII && $0.isHexDigit }
        case .userIdentity: UserIdentityIdentifier(subject) != nil
        case .password, .userDisabled, .userDemoted, .userDeleted, .userGroup, .userAttribute, .consent:
            Int64(subject) != nil
        default: true
        }
    }
}

/// An answer as a script says it, also one that no honest server gives.
///
/// `{origin}`, `{issuer}` and `{sibling}` in its texts are filled in by the server.
public struct ScriptedAnswer: Sendable, Hashable, Codable {
    /// A header field.
    public struct Field: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Makes a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What the body holds.
    public enum Body: Sendable, Hashable, Codable {
        /// A text.
        case text(String)
        /// So many spaces, made as they are sent.
        case spaces(Int)
    }

    /// How far the answer gets.
    public enum Delivery: String, Sendable, Hashable, Codable {
        /// To its end.
        case whole
        /// Nowhere: the connection is closed.
        case closed
        /// Half of the body, then the connection is closed.
        case cutShort = "cut-short"
        /// The head comes at once, then a byte now and then, and never an end.
        case endless
        /// Nothing ever comes.
        case silent
    }

    /// The status.
    public var status: Int
    /// The header fields; one may repeat.
    public var headerFields: [Field]
    /// The body.
    public var body: Body
    /// How far it gets.
    public var delivery: Delivery

    /// Makes an answer.
    public init(
        status: Int = 200, headerFields: [Field] = [], body: Body = .text(""), delivery: Delivery = .whole
    ) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        self.delivery = delivery
    }

    /// The first value of a header field, or nil.
    public func field(_ name: String) -> String? {
        headerFields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

extension ScriptedAnswer {
    /// A text that says that it is JSON.
    public static func json(_ text: String, status: Int = 200, headerFields: [Field] = []) -> ScriptedAnswer {
        ScriptedAnswer(
            status: status, headerFields: [Field("Content-Type", "application/json")] + headerFields, body: .text(text))
    }

    /// A refusal of the token endpoint (RFC 6749 §5.2), of whatever status.
    public static func refusal(
        _ code: String, _ description: String? = nil, status: Int = 400, headerFields: [Field] = []
    ) -> ScriptedAnswer {
        var members = [WireMember("error", .text(code))]
        members.append("error_description", description.map { .text($0) })
        return .json(WireValue.object(members).written, status: status, headerFields: headerFields)
    }

    /// A page for people.
    public static func html(status: Int = 200, _ text: String = "Something went wrong") -> ScriptedAnswer {
        ScriptedAnswer(
            status: status, headerFields: [Field("Content-Type", "text/html; charset=utf-8")],
            body: .text("<!doctype html><title>Oops</title><p>\(text)"))
    }

    /// A way to somewhere else.
    public static func redirect(to location: String, status: Int = 302) -> ScriptedAnswer {
        ScriptedAnswer(status: status, headerFields: [Field("Location", location)])
    }

    /// Trouble that passes; `Retry-After` holds seconds or a date (RFC 9110 §10.2.3).
    public static func trouble(_ status: Int, retryAfter: String? = nil) -> ScriptedAnswer {
        ScriptedAnswer(status: status, headerFields: retryAfter.map { [Field("Retry-After", $0)] } ?? [])
    }

    /// JSON's spaces, so many that nobody should read them.
    public static func spaces(_ count: Int) -> ScriptedAnswer {
        ScriptedAnswer(headerFields: [Field("Content-Type", "application/json")], body: .spaces(count))
    }

    /// A closed connection in the place of an answer.
    public static let closed = ScriptedAnswer(delivery: .closed)
    /// An answer that begins and does not end.
    public static let endless = ScriptedAnswer(
        headerFields: [Field("Content-Type", "application/json")], delivery: .endless)
    /// An answer that does not begin.
    public static let silent = ScriptedAnswer(delivery: .silent)
}

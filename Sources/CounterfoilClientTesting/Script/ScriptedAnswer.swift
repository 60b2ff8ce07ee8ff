/// A scripted HTTP response, which may be invalid.
///
/// In the body and in the values of the header fields, the server replaces `{origin}`, `{issuer}` and
/// `{sibling}`, as in a ``ServerScript``.
public struct ScriptedAnswer: Sendable, Hashable, Codable {
    /// A header field, which is checked only when the response is sent.
    public struct Field: Sendable, Hashable, Codable {
        /// The name; the server omits a field whose name is invalid in HTTP.
        public var name: String
        /// The value, in which the server replaces placeholders such as `{origin}`.
        public var value: String

        /// Creates a header field, without a check of the name.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The content of a body: a string, or only a length if the body is very long.
    public enum Body: Sendable, Hashable, Codable {
        /// This string, encoded as UTF-8.
        case text(String)
        /// This number of spaces, which the server generates while it sends them.
        case spaces(Int)
    }

    /// The part of a response that is sent.
    public enum Delivery: String, Sendable, Hashable, Codable {
        /// The complete response.
        case whole
        /// Nothing: the server closes the connection.
        case closed
        /// The head and half of the body; then the server closes the connection.
        case cutShort = "cut-short"
        /// The head, and then one space every 20 ms until the client closes the connection.
        case endless
        /// The head and the body; then the server keeps the connection open.
        case unfinished
        /// Nothing: the server keeps the connection open.
        case silent
    }

    /// The HTTP status code; ignored if the delivery is `closed` or `silent`.
    public var status: Int
    /// The header fields; a name can occur several times.
    public var headerFields: [Field]
    /// The body; ignored if the delivery is `closed`, `silent` or `endless`.
    public var body: Body
    /// The part of the response that is sent.
    public var delivery: Delivery

    /// Creates a response, by default with status 200 and an empty body.
    public init(
        status: Int = 200, headerFields: [Field] = [], body: Body = .text(""), delivery: Delivery = .whole
    ) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        self.delivery = delivery
    }

    /// Returns the value of the first header field with this name, ignoring case; nil if there is none.
    public func field(_ name: String) -> String? {
        headerFields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

extension ScriptedAnswer {
    /// Returns a response with `Content-Type: application/json`.
    public static func json(_ text: String, status: Int = 200, headerFields: [Field] = []) -> ScriptedAnswer {
        ScriptedAnswer(
            status: status, headerFields: [Field("Content-Type", "application/json")] + headerFields, body: .text(text))
    }

    /// Returns an error response of the token endpoint (RFC 6749 §5.2).
    public static func refusal(
        _ code: String, _ description: String? = nil, status: Int = 400, headerFields: [Field] = []
    ) -> ScriptedAnswer {
        var members = [WireMember("error", .text(code))]
        members.append("error_description", description.map { .text($0) })
        return .json(WireValue.object(members).written, status: status, headerFields: headerFields)
    }

    /// Returns an HTML page that contains `text` without escaping.
    public static func html(status: Int = 200, _ text: String = "Something went wrong") -> ScriptedAnswer {
        ScriptedAnswer(
            status: status, headerFields: [Field("Content-Type", "text/html; charset=utf-8")],
            body: .text("<!doctype html><title>Oops</title><p>\(text)"))
    }

    /// Returns a redirect to a URL, in which the server replaces placeholders such as `{origin}`.
    public static func redirect(to location: String, status: Int = 302) -> ScriptedAnswer {
        ScriptedAnswer(status: status, headerFields: [Field("Location", location)])
    }

    /// Returns a response without a body; `retryAfter` is the value of `Retry-After`, which is a number of seconds or
    /// a date (RFC 9110 §10.2.3).
    public static func trouble(_ status: Int, retryAfter: String? = nil) -> ScriptedAnswer {
        ScriptedAnswer(status: status, headerFields: retryAfter.map { [Field("Retry-After", $0)] } ?? [])
    }

    /// Returns a JSON response that consists of `count` spaces, to test a client's limit for the response length.
    public static func spaces(_ count: Int) -> ScriptedAnswer {
        ScriptedAnswer(headerFields: [Field("Content-Type", "application/json")], body: .spaces(count))
    }

    /// A connection that the server closes without a response.
    public static let closed = ScriptedAnswer(delivery: .closed)
    /// A response whose body never ends.
    public static let endless = ScriptedAnswer(
        headerFields: [Field("Content-Type", "application/json")], delivery: .endless)
    /// A response that never starts.
    public static let silent = ScriptedAnswer(delivery: .silent)
}

import CounterfoilProtocol
package import CounterfoilTokens
public import HTTPTypes

/// A request as an endpoint sees it: head, bounded body, and where it came from.
public struct IncomingRequest: Sendable {
    /// Method, path with query, and header fields.
    public let head: HTTPRequest
    /// The whole body; the web layer has bounded it.
    public let body: [UInt8]
    /// The address that the connection came from; limits count by it.
    public let source: String
    /// What pages and the log call this request.
    public let id: String
    /// What the path names.
    public let parameters: PathParameters

    /// Makes a request.
    public init(
        head: HTTPRequest, body: [UInt8] = [], source: String, id: String, parameters: PathParameters = PathParameters()
    ) {
        self.head = head
        self.body = body
        self.source = source
        self.id = id
        self.parameters = parameters
    }

    /// The text after the `?` of the target, as it came; empty without one.
    package var query: String {
        guard let path = head.path, let mark = path.firstIndex(of: "?") else { return "" }
        return String(path[path.index(after: mark)...])
    }

    /// The value of a cookie; nil when it is absent or given more than once.
    package func cookie(_ name: String) -> String? {
        var found: String?
        for field in head.headerFields[values: .cookie] {
            for piece in field.split(separator: ";") {
                let halves = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2, halves[0].drop(while: { $0 == " " }) == name else { continue }
                guard found == nil else { return nil }
                found = String(halves[1])
            }
        }
        return found
    }

    /// The parameters of a form body; any other content type is refused (RFC 6749 appendix B).
    func form() throws(OAuthError) -> FormParameters {
        do { return try readForm() } catch { throw OAuthError(.invalidRequest, "\(error)") }
    }

    /// Whether exactly one content type says that the body is a form in UTF-8.
    var hasFormBody: Bool {
        let types = head.headerFields[values: .contentType]
        guard types.count == 1 else { return false }
        if types[0] == "application/x-www-form-urlencoded" { return true }
        let parts = types[0].lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
        guard parts.first == "application/x-www-form-urlencoded" else { return false }
        return parts.dropFirst().allSatisfy {
            $0 == "charset=utf-8" || $0 == "charset=\"utf-8\"" || !$0.hasPrefix("charset=")
        }
    }
}

/// The answer of an endpoint; the web layer renders the page and adds the fields that every answer carries.
public struct Reply: Sendable {
    /// What stands in the body.
    package enum Content: Sendable {
        /// Nothing.
        case none
        /// JSON, already encoded.
        case json([UInt8])
        /// A signed answer, of `application/` and its type.
        case signed(String, type: TokenType)
        /// A page to render.
        case page(any Page)
        /// A picture.
        case image(Logo)
    }

    /// The status.
    public var status: HTTPResponse.Status
    /// The fields beside those that the content and the web layer set.
    public var fields: HTTPFields
    /// The body.
    package var content: Content
    /// What stands around the page, where the body is one; the server sets it.
    package var frame: Frame?

    /// Makes an answer that nobody may store, unless its fields say otherwise.
    package init(_ status: HTTPResponse.Status, _ content: Content = .none, fields: HTTPFields = [:]) {
        self.status = status
        self.content = content
        self.fields = fields
        if fields[.cacheControl] == nil {
            self.fields[.cacheControl] = "no-store"
        }
    }

    /// The page of the body; nil where the body is none.
    package var page: (any Page)? { if case .page(let page) = content { page } else { nil } }

    /// Sends the browser on: 303, never 307, so that a form is not sent along (RFC 9700 §4.12).
    package static func seeOther(_ location: String) -> Reply {
        Reply(.seeOther, fields: [.location: location])
    }

    /// The answer with one more cookie.
    package func setting(_ cookie: String?) -> Reply {
        guard let cookie, let field = HTTPField.Name("Set-Cookie") else { return self }
        var reply = self
        reply.fields.append(HTTPField(name: field, value: cookie))
        return reply
    }
}

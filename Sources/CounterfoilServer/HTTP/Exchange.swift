import CounterfoilProtocol
package import CounterfoilTokens
public import HTTPTypes

/// A request to an endpoint, with its complete body.
public struct IncomingRequest: Sendable {
    /// The method, the path with the query, and the header fields.
    public let head: HTTPRequest
    /// The complete body; the web layer enforces its size limit.
    public let body: [UInt8]
    /// The client address, to which rate limits apply.
    public let source: String
    /// The identifier of the request on pages and in logs.
    public let id: String
    /// The parameters in the path.
    public let parameters: PathParameters

    /// Creates a request.
    public init(
        head: HTTPRequest, body: [UInt8] = [], source: String, id: String, parameters: PathParameters = PathParameters()
    ) {
        self.head = head
        self.body = body
        self.source = source
        self.id = id
        self.parameters = parameters
    }

    /// The query as it was sent, without `?`; empty if there is none.
    package var query: String {
        guard let path = head.path, let mark = path.firstIndex(of: "?") else { return "" }
        return String(path[path.index(after: mark)...])
    }

    /// Returns the value of a cookie; nil if it is absent or occurs more than once.
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

    /// Returns the parameters of a form body; throws for any other content type (RFC 6749 appendix B).
    func form() throws(OAuthError) -> FormParameters {
        do {
            return try readForm()
        } catch {
            throw OAuthError(.invalidRequest, "\(error)")
        }
    }

    /// Whether the request has exactly one content type, and it is a form in UTF-8.
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

/// The response of an endpoint.
///
/// The web layer renders the page and adds the fields that every response has.
public struct Reply: Sendable {
    /// The content of the body.
    package enum Content: Sendable {
        /// No content.
        case none
        /// Encoded JSON.
        case json([UInt8])
        /// A signed token; the content type is `application/` followed by the token type.
        case signed(String, type: TokenType)
        /// A page to be rendered.
        case page(any Page)
        /// A logo.
        case image(Logo)
    }

    /// The status.
    public var status: HTTPResponse.Status
    /// The header fields, in addition to those that the content and the web layer set.
    public var fields: HTTPFields
    /// The body.
    package var content: Content
    /// The data around a page; nil until the server sets it, and if the body is no page.
    package var frame: Frame?

    /// Creates a response with `Cache-Control: no-store`, unless `fields` contains `Cache-Control`.
    package init(_ status: HTTPResponse.Status, _ content: Content = .none, fields: HTTPFields = [:]) {
        self.status = status
        self.content = content
        self.fields = fields
        if fields[.cacheControl] == nil {
            self.fields[.cacheControl] = "no-store"
        }
    }

    /// The page in the body; nil if the body is no page.
    package var page: (any Page)? { if case .page(let page) = content { page } else { nil } }

    /// Creates a redirect with status 303; with 307 the browser would send the form again (RFC 9700 §4.12).
    package static func seeOther(_ location: String) -> Reply {
        Reply(.seeOther, fields: [.location: location])
    }

    /// Returns the response with an additional cookie.
    package func setting(_ cookie: String?) -> Reply {
        guard let cookie, let field = HTTPField.Name("Set-Cookie") else { return self }
        var reply = self
        reply.fields.append(HTTPField(name: field, value: cookie))
        return reply
    }

    /// Returns the response with additional cookies.
    package func setting(_ cookies: [String]) -> Reply { cookies.reduce(self) { $0.setting($1) } }
}

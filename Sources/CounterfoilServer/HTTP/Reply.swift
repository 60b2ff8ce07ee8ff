import CounterfoilProtocol
package import CounterfoilTokens
public import HTTPTypes

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

import CounterfoilProtocol
package import CounterfoilStore
package import CounterfoilTokens
public import HTTPTypes

/// The response of an endpoint.
///
/// If the body is a page, the web layer renders it. The web layer also adds the header fields that every
/// response has, such as security headers.
public struct Reply: Sendable {
    /// The body of a response, before it is rendered or sent.
    package enum Content: Sendable {
        /// An empty body.
        case none
        /// Encoded JSON.
        case json([UInt8])
        /// Encoded problem details (RFC 9457).
        case problem([UInt8])
        /// Encoded JSON for a directory, with the content type of SCIM (RFC 7644 §8.1).
        case scim([UInt8])
        /// A signed JWT; the content type is `client/` followed by the token type.
        case signed(String, type: TokenType)
        /// A page, which the web layer renders as HTML.
        case page(any Page)
        case image(Logo)
        /// A file with its media type, which the browser saves under the name in `Content-Disposition`.
        case file([UInt8], type: String)
    }

    /// The HTTP status, which each endpoint chooses; 303 for a redirect, and for an error the status of its refusal.
    public var status: HTTPResponse.Status
    /// The header fields except `Content-Type` and those that the web layer adds to every response.
    public var fields: HTTPFields
    package var content: Content
    /// The name and look of the service and the language of the page, which the server sets for every page.
    ///
    /// Nil if the body is not a page.
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

    /// The page in the body; nil if the body is not a page.
    package var page: (any Page)? { if case .page(let page) = content { page } else { nil } }

    /// Creates a redirect with status 303, after which the browser sends a GET request.
    ///
    /// With 307, the browser would post its form, which may contain a password, to the target (RFC 9700 §4.12).
    package static func seeOther(_ location: String) -> Reply {
        Reply(.seeOther, fields: [.location: location])
    }

    /// Returns the response with an additional `Set-Cookie` field; unchanged if the cookie is nil.
    package func setting(_ cookie: String?) -> Reply {
        guard let cookie, let field = HTTPField.Name("Set-Cookie") else { return self }
        var reply = self
        reply.fields.append(HTTPField(name: field, value: cookie))
        return reply
    }

    /// Returns the response with an additional `Set-Cookie` field for each cookie.
    package func setting(_ cookies: [String]) -> Reply { cookies.reduce(self) { $0.setting($1) } }
}

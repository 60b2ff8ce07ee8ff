package import CounterfoilProtocol
package import CounterfoilStore
public import HTTPTypes

/// A request to an endpoint, with its complete body.
public struct IncomingRequest: Sendable {
    /// The method, the path with the query, and the header fields.
    public let head: HTTPRequest
    /// The complete body; the web layer has already enforced the size limit of the endpoint.
    public let body: [UInt8]
    /// What everything that works for the request needs to know of it.
    package var context: RequestContext
    /// The identifier of the trace that the request belongs to (W3C Trace Context §3.2.2.3), for the log; nil if no
    /// trusted proxy has sent one.
    public let trace: String?
    /// The values of the placeholders in the path of the endpoint, such as `{client_id}`.
    public let parameters: PathParameters
    /// The refusal that the audit log has of this request.
    let refusal = RequestRefusal()

    /// Creates a request; by default, it has an empty body and no path parameters.
    public init(
        head: HTTPRequest, body: [UInt8] = [], source: String, id: String, trace: String? = nil,
        parameters: PathParameters = PathParameters()
    ) {
        self.head = head
        self.body = body
        context = RequestContext(id: id, source: source)
        self.trace = trace
        self.parameters = parameters
    }

    /// The IP address of the client, for rate limits; behind a trusted proxy, the address that the proxy forwards.
    public var source: String { context.source }
    /// The identifier of the request, which error pages and logs show.
    public var id: String { context.id }

    /// Returns true if a text can be the identifier of a request: 1 to 64 letters, digits and `-._:=+/`.
    package static func isIdentifier(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._:=+/".contains($0)) }
    }

    /// The query as it was sent, without `?`; empty if there is none.
    package var query: String {
        guard let path = head.path, let mark = path.firstIndex(of: "?") else { return "" }
        return String(path[path.index(after: mark)...])
    }

    /// Returns the value of a cookie; nil if the cookie is absent or occurs more than once.
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

    /// The facts about the sender of a form for the audit log: `host`, `origin`, `sec_fetch_site` and the number of
    /// cookies.
    ///
    /// The sender chooses the values, so they are escaped and cut. The result has at most 180 bytes.
    var sender: String {
        let fields = head.headerFields
        let site = HTTPField.Name("Sec-Fetch-Site").flatMap { fields[$0] }
        let cookies = fields[values: .cookie].flatMap { $0.split(separator: ";") }.count
        let values = [("host", head.authority, 60), ("origin", fields[.origin], 60), ("sec_fetch_site", site, 16)].map {
            name, value, limit in "\(name)=\(value.map { EscapedText($0, limit: limit).description } ?? "none")"
        }
        return (values + ["cookies=\(cookies)"]).joined(separator: " ")
    }

    /// Whether a browser sends the request ahead of the user, to have the page ready if the user opens it.
    ///
    /// The Fetch standard defines `Sec-Purpose`, with values such as `prefetch;prerender`. Older browsers use the other
    /// fields.
    var isAheadOfUser: Bool {
        Self.purposeFields.contains { field in
            head.headerFields[values: field].contains { value in
                let purpose = value.lowercased()
                return purpose.hasPrefix("prefetch") || purpose.hasPrefix("prerender") || purpose.hasPrefix("preview")
            }
        }
    }

    private static let purposeFields = ["Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"]
        .compactMap { HTTPField.Name($0) }

    /// Returns the parameters of a form in the body; throws `invalid_request` for any other body (RFC 6749 appendix B).
    func form() throws(OAuthError) -> FormParameters {
        do {
            return try readForm()
        } catch {
            throw OAuthError(.invalidRequest, "\(error)")
        }
    }

    /// Whether the request has one `Content-Type` field with the type of a form and no charset other than UTF-8.
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

extension IncomingRequest {
    /// Returns the networks for which limits count the request; nil for the address of a local proxy.
    ///
    /// With an https issuer, a loopback address belongs to a reverse proxy on this machine that forwards no client
    /// address, or that the server does not trust. All requests then have the address of the proxy, so a limit for
    /// this address would affect all users. The same holds for a proxy at a Unix socket, whatever the issuer is.
    package func countedSource(_ issuer: Issuer) -> CountedSource? {
        source == CountedSource.unixSocket || issuer.isSecure && ["127.0.0.1", "::1"].contains(source)
            ? nil : CountedSource(source)
    }
}

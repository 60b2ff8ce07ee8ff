import CounterfoilProtocol
import HTTPTypes

/// The following of an API's redirects within its origin (RFC 9110 §15.4).
///
/// A token is sent to the origin that the caller named, and to no other. A redirect to another origin is therefore
/// not followed: the caller receives the redirect response itself.
enum APIRedirects {
    /// The maximum number of redirects that are followed for one call.
    static let limit = 5

    /// Sends a request, and then the requests to which the API redirects it.
    ///
    /// All of them together have the time limit of the request, which starts again after a request whose body was read
    /// from a file: its sending may have taken longer. A redirect that asks for the body again is not followed if the
    /// body can be sent only once.
    static func send<Response: HeadedResponse>(
        _ request: TransportRequest,
        through exchange: (TransportRequest) async throws(TransportFailure) -> Response
    ) async throws(TransportFailure) -> Response {
        var start = ContinuousClock.now
        var request = request
        let timeout = request.timeout
        for _ in 0..<limit {
            let response = try await exchange(request)
            guard let next = request.redirected(by: response) else { return response }
            let now = ContinuousClock.now
            if request.body.bytes == nil { start = now }
            request = next
            request.timeout = timeout - (now - start)
            guard request.timeout > .zero else { throw .timedOut(origin: request.endpoint.origin) }
        }
        return try await exchange(request)
    }
}

extension TransportRequest {
    /// Returns the request to which a response redirects this request; nil if the client does not follow it.
    func redirected(by response: some HeadedResponse) -> TransportRequest? {
        let locations = response.head.headerFields[values: .location]
        guard [301, 302, 303, 307, 308].contains(response.head.status.code), locations.count == 1,
            let target = try? EndpointURL(api: endpoint.resolving(locations[0])), target.hasSameOrigin(as: endpoint)
        else { return nil }
        // RFC 9110 §15.4.2 to §15.4.4: 303 asks for GET, and so do 301 and 302 after POST by long usage. 307 and 308
        // keep the method and the body.
        let asksForGET =
            response.head.status.code == 303 ? method != .head : response.head.status.code < 303 && method == .post
        guard asksForGET || body.isRepeatable else { return nil }
        var next = TransportRequest(
            target, method: method, headerFields: headerFields, body: body, byteLimit: byteLimit, timeout: timeout)
        if asksForGET {
            next.method = .get
            next.body = RequestBody()
            for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding, .contentLanguage] {
                next.headerFields[name] = nil
            }
        }
        return next
    }
}

extension EndpointURL {
    /// Returns true if two URLs have the same scheme, host and port (RFC 6454 §4).
    func hasSameOrigin(as other: EndpointURL) -> Bool {
        func port(_ endpoint: EndpointURL) -> Int {
            endpoint.uri.port ?? (endpoint.uri.scheme.lowercased() == "https" ? 443 : 80)
        }
        return uri.scheme.lowercased() == other.uri.scheme.lowercased()
            && uri.host?.lowercased() == other.uri.host?.lowercased() && port(self) == port(other)
    }

    /// Returns the absolute URL of a reference in a response to a request for this URL, without its fragment.
    ///
    /// RFC 3986 §5.2.
    func resolving(_ reference: String) -> String {
        let text = String(reference.prefix { $0 != "#" })
        // RFC 3986 §4.2: a relative reference has no colon in its first segment.
        if text.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") { return text }
        if text.hasPrefix("//") { return "\(uri.scheme):\(text)" }
        let path = String(text.prefix { $0 != "?" })
        let query = text.dropFirst(path.count)
        if path.isEmpty {
            let own = uri.query.map { "?\($0)" } ?? ""
            return "\(origin)\(uri.path)\(query.isEmpty ? own : String(query))"
        }
        let folder = uri.path.lastIndex(of: "/").map { String(uri.path[...$0]) } ?? "/"
        return origin + Self.withoutDotSegments(path.hasPrefix("/") ? path : folder + path) + query
    }

    /// Removes the segments `.` and `..` from an absolute path (RFC 3986 §5.2.4).
    private static func withoutDotSegments(_ path: String) -> String {
        var result: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case "..":
                _ = result.popLast()
                if isLast { result.append("") }
            case ".": if isLast { result.append("") }
            default: result.append(segment)
            }
        }
        return "/" + result.joined(separator: "/")
    }
}

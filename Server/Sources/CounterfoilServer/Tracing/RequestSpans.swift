package import CounterfoilProtocol
package import CounterfoilStore
package import HTTPTypes

extension SpanStart {
    /// The answer to a request.
    ///
    /// - Parameters:
    ///   - head: The head of the request, of which only the method is used.
    ///   - id: The identifier of the request.
    ///   - endpoint: The endpoint; nil if the request has none, as that of a static file.
    ///   - issuer: The issuer of the server.
    package static func request(
        _ head: HTTPRequest, id: String, at endpoint: Endpoint?, of issuer: Issuer
    ) -> SpanStart {
        // The paths of an endpoint are patterns, such as `/apps/{client_id}`.
        let route = endpoint?.paths(of: issuer).first
        let method = TraceAttribute.known(head.method.rawValue) ?? "HTTP"
        return SpanStart(
            name: route.map { "\(method) \($0)" } ?? method, kind: .server,
            attributes: [
                .method(head.method.rawValue), .scheme(String(issuer.origin.prefix { $0 != ":" })), .requestID(id),
            ] + (route.map { [.route($0)] } ?? []))
    }

    /// The signature of a token.
    static let signature = SpanStart(name: "sign token", kind: .internal, attributes: [])

    /// The hash of a password, with the time for which it waits.
    static let passwordHash = SpanStart(name: "hash password", kind: .internal, attributes: [])

    /// A request of the server to another host.
    package static func outbound(_ method: String, to host: String) -> SpanStart {
        SpanStart(
            name: method, kind: .client,
            attributes: [.method(method), .host(host), .scheme("https")])
    }
}

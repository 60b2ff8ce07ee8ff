package import CounterfoilProtocol
package import HTTPTypes

/// The beginning of a span: its name, its kind and its first attributes.
///
/// Only the functions of this type create one.
package struct SpanStart: Sendable, Hashable {
    /// The role of the server in the work.
    package enum Kind: Sendable {
        /// The server answers a request.
        case server
        /// The server waits for a database or another server.
        case client
        /// The server computes.
        case `internal`
    }

    package let name: String
    package let kind: Kind
    package let attributes: [TraceAttribute]

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
        let method = TraceAttribute.known(head.method) ?? "HTTP"
        return SpanStart(
            name: route.map { "\(method) \($0)" } ?? method, kind: .server,
            attributes: [
                .method(head.method), .scheme(String(issuer.origin.prefix { $0 != ":" })), .requestID(id),
            ] + (route.map { [.route($0)] } ?? []))
    }

    /// A read or a commit of the store.
    ///
    /// - Parameters:
    ///   - access: The kind of access.
    ///   - function: The function of the store, as `#function` names it.
    ///   - kind: The database.
    package static func store(
        _ access: StoreMeter.Operation, _ function: StaticString, in kind: StoreMeasurements.Kind
    ) -> SpanStart {
        let operation = String("\(function)".prefix { $0 != "(" })
        return SpanStart(
            name: "\(access.rawValue) \(operation)", kind: .client,
            attributes: [.database(kind), .operation(operation)])
    }

    /// The signature of a token.
    static let signature = SpanStart(name: "sign token", kind: .internal, attributes: [])

    /// The hash of a password, with the time for which it waits.
    static let passwordHash = SpanStart(name: "hash password", kind: .internal, attributes: [])

    /// A request of the server to another host.
    package static func outbound(_ method: String, to host: String) -> SpanStart {
        let method = HTTPRequest.Method(method) ?? .get
        return SpanStart(
            name: method.rawValue, kind: .client,
            attributes: [.method(method), .host(host), .scheme("https")])
    }
}

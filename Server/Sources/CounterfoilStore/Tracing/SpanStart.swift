/// The beginning of a span: its name, its kind and its first attributes.
///
/// Only the functions of this type create one, so that no secret and no name of a user is in it.
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

    package init(name: String, kind: Kind, attributes: [TraceAttribute]) {
        self.name = name
        self.kind = kind
        self.attributes = attributes
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
}

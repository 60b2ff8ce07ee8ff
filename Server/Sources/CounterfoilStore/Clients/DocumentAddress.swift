package import CounterfoilProtocol

/// The host of a client document, by which users know its client.
package struct DocumentAddress: Sendable, Hashable {
    /// The host in lower case and ASCII.
    package let name: String
    /// The port; nil if the URL of the document contains none.
    package let port: Int?
    /// The host and the port as texts contain them, such as `viewer.example:8443`.
    package let text: String

    /// Reads the identifier of a client, which is the URL of its document; nil if the client has no document.
    package init?(of id: ClientIdentifier, from source: ClientSource) {
        guard case .document = source, let url = try? AbsoluteURI(parsing: id.rawValue), let host = url.host else {
            return nil
        }
        name = DomainName.canonical(host)
        port = url.port
        text = name + (url.port.map { ":\($0)" } ?? "")
    }
}

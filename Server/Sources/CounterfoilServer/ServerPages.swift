/// The pages for signed-in users, which another module adds to the server.
public struct ServerPages: Sendable {
    /// The pages to which endpoints of the protocol lead.
    let linked: LinkedPages
    package let endpoints: [Endpoint]
    /// The source texts of the page templates by template name, in UTF-8.
    package let templates: [String: [UInt8]]
    package let formats: ContentFormats
    /// The parts with the handlers of ``endpoints``.
    let parts: [EndpointPart]

    package init(
        linked: LinkedPages, endpoints: [Endpoint], templates: [String: [UInt8]], formats: ContentFormats,
        parts: [EndpointPart]
    ) {
        self.linked = linked
        self.endpoints = endpoints
        self.templates = templates
        self.formats = formats
        self.parts = parts
    }
}

/// A part of the server: creates the handlers of its endpoints from the components that work for a request.
///
/// The handlers are created for each request, so what counts or caches belongs to ``ServerComponents``.
package typealias EndpointPart = @Sendable (_ components: ServerComponents) -> [EndpointHandler]

extension EndpointAliases {
    /// Adds an alias of the form `ENDPOINT=PATH`; an endpoint may have several aliases.
    ///
    /// - Parameters:
    ///   - text: The alias, such as `token=/connect/token`.
    ///   - pages: The pages of this server, whose paths an alias cannot have.
    public mutating func add(_ text: String, beside pages: ServerPages) throws(Refusal) {
        try add(text, beside: pages.endpoints)
    }
}

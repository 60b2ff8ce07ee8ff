public import CounterfoilProtocol

/// The part of an API's metadata that does not follow from its issuer, its audience and its ``ProofPolicy``.
///
/// RFC 9728 §2. A ``ResourceServer`` with a description has ``ResourceServer/metadata``, and names their URL in its
/// challenges. The API must serve them there.
public struct ResourceDescription: Sendable, Hashable {
    /// `scopes_supported`: the scope with which a client can start; omitted if empty.
    ///
    /// A client requests it if it knows nothing better, so it should be small. Challenges request more where an
    /// operation needs more. The scope token `offline_access` is never published, because it is no permission of an
    /// API.
    public var scopes: Scope
    /// `resource_name`: the name of the API for its users; omitted if nil.
    public var name: String?
    /// `resource_documentation`: the URL of a page for client developers; omitted if nil.
    public var documentation: AbsoluteURI?

    /// Creates a description; empty and nil values are omitted from the metadata.
    public init(scopes: Scope = Scope(), name: String? = nil, documentation: AbsoluteURI? = nil) {
        self.scopes = scopes
        self.name = name
        self.documentation = documentation
    }
}

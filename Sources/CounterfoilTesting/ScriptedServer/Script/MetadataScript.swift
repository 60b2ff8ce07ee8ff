/// What the metadata of a scripted server say, and where.
public struct MetadataScript: Sendable, Hashable, Codable {
    /// A place for the metadata.
    public enum Form: String, Sendable, Hashable, Codable, CaseIterable {
        /// `/.well-known/oauth-authorization-server`, before the issuer's path (RFC 8414 §3.1).
        case oauth
        /// `/.well-known/openid-configuration`, before the issuer's path (RFC 8414 §5).
        case openID = "openid"
        /// `/.well-known/openid-configuration`, after the issuer's path (OpenID Connect Discovery §4).
        case openIDAppended = "openid-appended"
    }

    /// Where there are any; empty is a server without metadata.
    public var forms = Set(Form.allCases)
    /// The endpoints that the server does not have: they are neither published nor there.
    public var absent: Set<ScriptedEndpoint> = [.serverInfo]
    /// Members in the place of the honest ones.
    public var replaced: [WireMember] = []
    /// Members that are left out, though the server does what they say.
    public var omitted: [String] = []
    /// Members of the API's own metadata in the place of the honest ones.
    public var resourceReplaced: [WireMember] = []
    /// Members of the API's own metadata that are left out.
    public var resourceOmitted: [String] = []
    /// Endpoints whose JSON names every member twice.
    public var doubled: Set<ScriptedEndpoint> = []
    /// Endpoints whose JSON holds a member with so many lists inside each other.
    public var depths: [ScriptedEndpoint: Int] = [:]

    /// Complete and true metadata.
    public init() {}
}

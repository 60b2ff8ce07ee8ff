/// The metadata documents of a scripted server.
public struct MetadataScript: Sendable, Hashable, Codable {
    /// A location of the metadata document.
    public enum Form: String, Sendable, Hashable, Codable, CaseIterable {
        /// `/.well-known/oauth-authorization-server`, before the path of the issuer (RFC 8414 §3.1).
        case oauth
        /// `/.well-known/openid-configuration`, before the path of the issuer (RFC 8414 §5).
        case openID = "openid"
        /// `/.well-known/openid-configuration`, after the path of the issuer (OpenID Connect Discovery §4).
        case openIDAppended = "openid-appended"
    }

    /// The locations of the metadata document; an empty set means no metadata.
    public var forms = Set(Form.allCases)
    /// The endpoints that the server neither publishes nor serves.
    public var absent: Set<ScriptedEndpoint> = [.serverInfo]
    /// Members that replace those of the metadata, or are added to them.
    public var replaced: [WireMember] = []
    /// Members that are omitted, although the server behaves as they say.
    public var omitted: [String] = []
    /// Members that replace those of the resource metadata, or are added to them.
    public var resourceReplaced: [WireMember] = []
    /// Members that are omitted from the resource metadata.
    public var resourceOmitted: [String] = []
    /// The endpoints whose JSON contains every member twice.
    public var doubled: Set<ScriptedEndpoint> = []
    /// The depth of nested arrays in an additional member, by endpoint.
    public var depths: [ScriptedEndpoint: Int] = [:]

    /// Creates complete and correct metadata.
    public init() {}
}

/// The metadata of a scripted server (RFC 8414) and of its API (RFC 9728), with their deviations.
public struct MetadataScript: Sendable, Hashable, Codable {
    /// A location of the metadata document.
    public enum Form: String, Sendable, Hashable, Codable, CaseIterable, CodingKeyRepresentable {
        /// `/.well-known/oauth-authorization-server`, followed by the path of the issuer (RFC 8414 §3.1).
        case oauth
        /// `/.well-known/openid-configuration`, followed by the path of the issuer (RFC 8414 §5).
        case openID = "openid"
        /// The path of the issuer, followed by `/.well-known/openid-configuration` (OpenID Connect Discovery §4).
        case openIDAppended = "openid-appended"
    }

    /// The locations of the metadata document; with an empty set, the server publishes no metadata.
    public var forms = Set(Form.allCases)
    /// The endpoints that the server neither lists in its metadata nor serves.
    public var absent: Set<ScriptedEndpoint> = [.serverInfo]
    /// Members that replace members of the same name in the metadata, or are added to them.
    public var replaced: [WireMember] = []
    /// The names of members that are omitted from the metadata.
    ///
    /// An omission does not change the behaviour of the server, with one exception: if
    /// `authorization_response_iss_parameter_supported` is omitted, authorization responses contain no `iss`.
    public var omitted: [String] = []
    /// The names of members that are omitted only at some locations, by location.
    public var omittedAt: [Form: [String]] = [:]
    /// Members that replace members of the same name in the resource metadata, or are added to them.
    public var resourceReplaced: [WireMember] = []
    /// The names of members that are omitted from the resource metadata.
    public var resourceOmitted: [String] = []
    /// The endpoints whose JSON contains every member twice.
    public var doubled: Set<ScriptedEndpoint> = []
    /// The endpoints whose JSON has an additional member `depth` with nested arrays, and the number of levels.
    public var depths: [ScriptedEndpoint: Int] = [:]

    /// Creates a script for complete and correct metadata.
    public init() {}
}

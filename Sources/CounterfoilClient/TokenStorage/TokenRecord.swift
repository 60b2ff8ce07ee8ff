import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The stored state of a profile: the credentials, the revision of the record, and the intent to refresh.
public struct TokenRecord: Sendable, Hashable {
    /// The credentials from a sign-in or a refresh.
    public let credentials: Credentials
    /// The random identifier of the write that stored this record; every write has a different one.
    public let revision: Revision
    /// The intent to send the refresh token; nil if no refresh was in progress when the record was written.
    public let refreshIntent: RefreshIntent?

    /// The identifier of one write of a record, by which a later write detects that the record has changed.
    public struct Revision: Sendable, Hashable, Codable {
        private let rawValue: String

        /// Creates a random revision of 128 bits.
        public init() { rawValue = Base64URL.encode(RandomBytes().bytes(16)) }

        /// Decodes a revision from a single string.
        public init(from decoder: any Decoder) throws {
            rawValue = try decoder.singleValueContainer().decode(String.self)
        }

        /// Encodes the revision as a single string.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(rawValue)
        }
    }

    /// The change that ``TokenStore/update(_:_:)`` makes to the record of a profile.
    public enum Change: Sendable, Hashable {
        /// The stored record stays as it is; nothing is written.
        case keep
        /// This record replaces the stored one, or becomes the first record of the profile.
        case put(TokenRecord)
        /// The stored record is deleted, if there is one.
        case remove
    }

    /// Creates a record with a new revision.
    public init(_ credentials: Credentials, refreshIntent: RefreshIntent? = nil) {
        self.init(credentials, refreshIntent: refreshIntent, revision: Revision())
    }

    init(_ credentials: Credentials, refreshIntent: RefreshIntent?, revision: Revision) {
        self.credentials = credentials
        self.refreshIntent = refreshIntent
        self.revision = revision
    }
}

/// The encoding of a record, which contains tokens in plain text: a store must protect it from other users.
extension TokenRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, revision, credentials
        case refreshIntent = "refresh_intent"
    }

    /// The format version of new records; a record with a higher version is not decoded.
    private static let version = 1

    /// The error for a record with a higher format version, which a store must neither decode nor change.
    struct IsNewer: Error {}

    /// Decodes a record from a token store.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        guard try values.decode(Int.self, forKey: .version) <= Self.version else { throw IsNewer() }
        self.init(
            try values.decode(Credentials.self, forKey: .credentials),
            refreshIntent: try values.decodeIfPresent(RefreshIntent.self, forKey: .refreshIntent),
            revision: try values.decode(Revision.self, forKey: .revision))
    }

    /// Encodes the record in the current format version, with the tokens in plain text.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(revision, forKey: .revision)
        try values.encode(credentials, forKey: .credentials)
        try values.encodeIfPresent(refreshIntent, forKey: .refreshIntent)
    }

    /// Decodes a record from the bytes in a store.
    ///
    /// `location` names the store in errors.
    init(stored bytes: Data, at location: String) throws(TokenStoreError) {
        do {
            self = try JSONDecoder().decode(TokenRecord.self, from: bytes)
        } catch is IsNewer {
            throw .newer(location: location)
        } catch {
            throw .damaged(location: location)
        }
    }

    /// Encodes the record for a store.
    ///
    /// `location` names the store in errors.
    func stored(at location: String) throws(TokenStoreError) -> Data {
        guard let bytes = try? JSONEncoder().encode(self) else {
            throw .failed(path: location, reason: "the credentials cannot be encoded")
        }
        return bytes
    }
}

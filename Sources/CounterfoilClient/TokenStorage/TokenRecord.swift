import CounterfoilProtocol
import Foundation

/// What a store keeps under a profile: the credentials, which writing of them this is, and whether they are being refreshed.
public struct TokenRecord: Sendable, Hashable {
    /// What a sign-in or a refresh gave.
    public let credentials: Credentials
    /// Which writing this is; no other writing of any profile has the same.
    public let revision: Revision
    /// The refresh token that was about to be sent when this was written; nil when none was.
    public let refreshIntent: RefreshIntent?

    /// The name of one writing of a record; what a compare-and-swap compares.
    public struct Revision: Sendable, Hashable, Codable {
        private let rawValue: String

        /// A new one, of 128 random bits.
        public init() { self.init(rawValue: Base64URL.encode(RandomBytes().bytes(16))) }

        private init(rawValue: String) { self.rawValue = rawValue }

        /// The one of everything that was written before revisions were.
        static let beforeRevisions = Revision(rawValue: "")

        /// Reads the form of a token store.
        public init(from decoder: any Decoder) throws {
            rawValue = try decoder.singleValueContainer().decode(String.self)
        }

        /// Writes the form of a token store.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(rawValue)
        }
    }

    /// What becomes of a record.
    public enum Change: Sendable, Hashable {
        /// It stays as it is.
        case keep
        /// Another takes its place.
        case put(TokenRecord)
        /// It goes.
        case remove
    }

    /// A record to be written, with a revision of its own.
    public init(_ credentials: Credentials, refreshIntent: RefreshIntent? = nil) {
        self.init(credentials, refreshIntent: refreshIntent, revision: Revision())
    }

    init(_ credentials: Credentials, refreshIntent: RefreshIntent?, revision: Revision) {
        self.credentials = credentials
        self.refreshIntent = refreshIntent
        self.revision = revision
    }
}

/// The form in which stores keep a record; it holds tokens in clear and goes only where nobody else can read it.
extension TokenRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case version
        case revision
        case credentials
        case refreshIntent = "refresh_intent"
    }

    /// The form that is written; one with a higher number is not read.
    private static let version = 1

    /// A form of a later version, which this one must leave alone.
    struct IsNewer: Error {}

    /// Reads the form of a token store, and the bare credentials that were kept before there was one.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        guard let version = try values.decodeIfPresent(Int.self, forKey: .version) else {
            self.init(try Credentials(from: decoder), refreshIntent: nil, revision: .beforeRevisions)
            return
        }
        guard version <= Self.version else { throw IsNewer() }
        self.init(
            try values.decode(Credentials.self, forKey: .credentials),
            refreshIntent: try values.decodeIfPresent(RefreshIntent.self, forKey: .refreshIntent),
            revision: try values.decode(Revision.self, forKey: .revision))
    }

    /// Writes the form of a token store.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(revision, forKey: .revision)
        try values.encode(credentials, forKey: .credentials)
        try values.encodeIfPresent(refreshIntent, forKey: .refreshIntent)
    }

    /// Reads the bytes that a store kept at a place.
    init(stored bytes: Data, at place: String) throws(TokenStoreError) {
        do {
            self = try JSONDecoder().decode(TokenRecord.self, from: bytes)
        } catch is IsNewer {
            throw .newer(place: place)
        } catch {
            throw .damaged(place: place)
        }
    }

    /// The bytes for a store to keep at a place.
    func stored(at place: String) throws(TokenStoreError) -> Data {
        guard let bytes = try? JSONEncoder().encode(self) else {
            throw .failed(path: place, reason: "the credentials cannot be written down")
        }
        return bytes
    }
}

public import CounterfoilPlatform
public import CounterfoilProtocol

/// A stored profile in a list of sign-ins, without its tokens.
public struct StoredProfile: Sendable, Hashable {
    /// The name under which the app stored the credentials.
    public let name: ProfileName
    /// The stored sign-in, or the reason why its record cannot be read.
    ///
    /// A record that cannot be read is either damaged or was written by a later version of this program. It can be
    /// replaced by a new sign-in, or removed with ``TokenStore/remove(_:)``.
    public let content: Result<StoredSignIn, TokenStoreError>

    /// Creates an entry of a list.
    public init(_ name: ProfileName, _ content: Result<StoredSignIn, TokenStoreError>) {
        self.name = name
        self.content = content
    }

    /// Reads the record of each profile and returns the entries of the list, in the given order.
    ///
    /// Profiles without a record are omitted.
    static func list(
        _ names: [ProfileName], _ record: (ProfileName) async throws(TokenStoreError) -> TokenRecord?
    ) async throws(TokenStoreError) -> [StoredProfile] {
        var profiles: [StoredProfile] = []
        for name in names {
            do throws(TokenStoreError) {
                guard let record = try await record(name) else { continue }
                profiles.append(StoredProfile(name, .success(StoredSignIn(record))))
            } catch {
                guard error.isAboutOneRecord else { throw error }
                profiles.append(StoredProfile(name, .failure(error)))
            }
        }
        return profiles
    }
}

/// The description of a stored sign-in, without its tokens.
public struct StoredSignIn: Sendable, Hashable {
    /// The issuer of the server at which the user signed in.
    public let issuer: Issuer
    /// The identifier of the client to which the tokens were issued.
    public let clientID: ClientIdentifier
    /// The granted scope, which may be smaller than the requested one.
    public let scope: Scope
    /// The expiration time of the access token, by this device's clock; nil if the server sent none.
    public let expires: Date?
    /// The user who signed in; nil if `openid` was not requested.
    public let user: Credentials.User?
    /// Whether the session can refresh the access token.
    public let hasRefreshToken: Bool
    /// Whether the sign-in is that of a service, which requests each access token with its own authentication.
    public let isOfService: Bool

    /// Returns true if the access token is valid or can be renewed.
    public func isGood(at now: Date = Date()) -> Bool {
        if hasRefreshToken || isOfService { return true }
        return expires.map { $0 > now } ?? true
    }

    /// Creates the description of the sign-in in a record.
    public init(_ record: TokenRecord) {
        issuer = record.credentials.issuer
        clientID = record.credentials.clientID
        scope = record.credentials.scope
        expires = record.credentials.expires
        user = record.credentials.user
        hasRefreshToken = record.credentials.refreshToken != nil
        isOfService = record.credentials.isOfService
    }
}

public import CounterfoilProtocol
public import Foundation

/// A store that keeps credentials from one run of an app to the next.
///
/// A store must be readable only by the user who runs the app (RFC 8252 §8.12 and RFC 6749 §10.3). A
/// sign-in without ``NativeSignIn/Options/keepsRefreshToken`` stores no refresh token.
///
/// Several processes may use a store at once, and each of them may be killed at any point. If a process is killed
/// during a write, the store contains either the old record or the new one, never a partial record.
///
/// A refresh takes the following steps. If the process is killed between two steps, the next process can continue
/// from the stored record:
///
/// 1. Acquire the lock with ``refreshLock(of:within:)``, so that no two processes send the same refresh token.
/// 2. Read the record again with ``record(of:)``, because another process may have refreshed in the meantime.
/// 3. Store the intent to send the refresh token with ``beginRefresh(of:sending:at:in:)``.
/// 4. Send the request to the server.
/// 5. Store the new credentials with ``replace(_:with:in:)``, which changes nothing if the user signed in or out in
///    the meantime.
public protocol TokenStore: Sendable {
    /// Returns the record of a profile, or nil if there is none.
    func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord?

    /// Applies the change that the closure returns to the record of a profile, and returns the previous record.
    ///
    /// The closure receives the current record, or nil if there is none. All writes of records go through this
    /// function. No other task or process can write to the store between the call of the closure and the write of its
    /// change. The new record is durable when the function returns. Cancelling the task does not interrupt the write.
    @discardableResult
    func update(
        _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
    ) async throws(TokenStoreError) -> TokenRecord?

    /// Returns every profile that has a record, sorted by name.
    func profiles() async throws(TokenStoreError) -> [StoredProfile]

    /// Waits until no other process and no other task holds the refresh lock of a profile, and acquires it.
    ///
    /// A task acquires the lock before it refreshes; the lock does not block reads or writes of the store. The
    /// system releases the lock when the process that holds it ends. Throws
    /// ``TokenStoreError/busy(place:holder:)`` when `limit` expires and ``TokenStoreError/cancelled`` when the
    /// task is cancelled.
    func refreshLock(
        of profile: ProfileName, within limit: Duration
    ) async throws(TokenStoreError) -> TokenStoreLock
}

extension TokenStore {
    /// Returns the credentials of a profile, or nil if there are none.
    public func credentials(of profile: ProfileName) async throws(TokenStoreError) -> Credentials? {
        try await record(of: profile)?.credentials
    }

    /// Stores the credentials of a profile and replaces earlier ones.
    ///
    /// The credentials are durable when the function returns.
    @discardableResult
    public func save(
        _ credentials: Credentials, as profile: ProfileName
    ) async throws(TokenStoreError) -> TokenRecord {
        let record = TokenRecord(credentials)
        try await update(profile) { _ in .put(record) }
        return record
    }

    /// Deletes the credentials of a profile; returns whether there were any.
    @discardableResult
    public func remove(_ profile: ProfileName) async throws(TokenStoreError) -> Bool {
        try await update(profile) { _ in .remove } != nil
    }

    /// Replaces a record with one for new credentials, or deletes it if `credentials` is nil.
    ///
    /// The function changes nothing if the revision of the stored record is not that of `expected`. The new record
    /// contains no intent to refresh.
    public func replace(
        _ expected: TokenRecord, with credentials: Credentials?, in profile: ProfileName
    ) async throws(TokenStoreError) -> RecordReplacement {
        try await swap(expected, for: credentials.map { TokenRecord($0) }, in: profile)
    }

    /// Stores the intent to send a refresh token, if the revision of the stored record is still that of `expected`.
    ///
    /// After the server has responded, pass the record from ``RecordReplacement/replaced(by:)`` to
    /// ``replace(_:with:in:)``.
    public func beginRefresh(
        of expected: TokenRecord, sending token: RefreshToken, at now: Date, in profile: ProfileName
    ) async throws(TokenStoreError) -> RecordReplacement {
        let intent = RefreshIntent(sending: token, at: now)
        return try await swap(expected, for: TokenRecord(expected.credentials, refreshIntent: intent), in: profile)
    }

    private func swap(
        _ expected: TokenRecord, for record: TokenRecord?, in profile: ProfileName
    ) async throws(TokenStoreError) -> RecordReplacement {
        let before = try await update(profile) { kept in
            guard kept?.revision == expected.revision else { return .keep }
            return record.map { .put($0) } ?? .remove
        }
        return before?.revision == expected.revision ? .replaced(by: record) : .changed(to: before)
    }
}

/// The outcome of replacing or deleting a record on condition that its revision is the expected one.
public enum RecordReplacement: Sendable, Hashable {
    /// The stored record was the expected one, and it was replaced or deleted.
    ///
    /// The value is the new record; nil if the record was deleted.
    case replaced(by: TokenRecord?)
    /// The stored record was not the expected one, and nothing was written.
    ///
    /// The value is the stored record; nil if there is none.
    case changed(to: TokenRecord?)
}

/// The description of a stored profile for lists of sign-ins, without its tokens.
public struct StoredProfile: Sendable, Hashable {
    /// The name under which the app stored the credentials.
    public let name: ProfileName
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

    /// Reads the record of each profile and returns the descriptions, in the given order.
    ///
    /// Profiles without a record are omitted.
    static func list(
        _ names: [ProfileName], _ record: (ProfileName) async throws(TokenStoreError) -> TokenRecord?
    ) async throws(TokenStoreError) -> [StoredProfile] {
        var profiles: [StoredProfile] = []
        for name in names {
            guard let record = try await record(name) else { continue }
            profiles.append(StoredProfile(name, record))
        }
        return profiles
    }

    /// Creates the description of a profile from its record, without the tokens.
    public init(_ name: ProfileName, _ record: TokenRecord) {
        self.name = name
        issuer = record.credentials.issuer
        clientID = record.credentials.clientID
        scope = record.credentials.scope
        expires = record.credentials.expires
        user = record.credentials.user
    }
}

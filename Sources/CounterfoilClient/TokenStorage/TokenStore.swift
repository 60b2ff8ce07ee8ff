public import CounterfoilProtocol
public import Foundation

/// A store of credentials that outlive a run of an app.
///
/// A store keeps data that only the user who runs the app may read (RFC 8252 §8.12 and RFC 6749 §10.3). It
/// contains no refresh token of a client that does not refresh. Several processes may use a store at once, and
/// each of them may be killed at any point. A store then contains a record from before or from after a write,
/// never a partial one.
///
/// A refresh takes the following steps. A kill between any two of them loses nothing that the next process
/// could use:
///
/// 1. ``refreshLock(of:within:)``, so that no two processes send the same refresh token;
/// 2. ``record(of:)`` again, because another process may have refreshed already;
/// 3. ``beginRefresh(of:sending:at:in:)``, which records that the token is about to be sent;
/// 4. the request to the server;
/// 5. ``replace(_:with:in:)``, which stores the response unless the user signed in or out in the meantime.
public protocol TokenStore: Sendable {
    /// Returns the record of a profile, or nil if there is none.
    func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord?

    /// Updates the record of a profile as the closure decides, and returns the record from before.
    ///
    /// All writes go through this function. No other task or process writes between the read and the write. The
    /// new record is durable when the function returns. Cancelling the task does not interrupt the write.
    @discardableResult
    func update(
        _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
    ) async throws(TokenStoreError) -> TokenRecord?

    /// Returns every profile that has a record, sorted by name.
    func profiles() async throws(TokenStoreError) -> [StoredProfile]

    /// Waits until no other process and no other task holds the refresh lock of a profile, and acquires it.
    ///
    /// The lock does not block reading or writing; a task acquires it before it refreshes. The system releases
    /// it when the process that holds it ends. Throws ``TokenStoreError/busy(place:holder:)`` when the limit
    /// expires and ``TokenStoreError/cancelled`` when the task is cancelled.
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
    /// They are durable when the function returns.
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

    /// Replaces a record by credentials, or deletes it if they are nil, unless the stored record has changed.
    ///
    /// A stored intent to refresh ends with the record.
    public func replace(
        _ expected: TokenRecord, with credentials: Credentials?, in profile: ProfileName
    ) async throws(TokenStoreError) -> RecordReplacement {
        try await swap(expected, for: credentials.map { TokenRecord($0) }, in: profile)
    }

    /// Records that a refresh token is about to be sent, unless the stored record has changed.
    ///
    /// The response of the server replaces the record that this function returns.
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

/// The outcome of an attempt to replace a record.
public enum RecordReplacement: Sendable, Hashable {
    /// The record was as expected.
    ///
    /// The value is the record that is stored now, nil if it was deleted.
    case replaced(by: TokenRecord?)
    /// The record had changed, and nothing was written.
    ///
    /// The value is the stored record, nil if it was deleted.
    case changed(to: TokenRecord?)
}

/// A profile as it is listed, without its tokens.
public struct StoredProfile: Sendable, Hashable {
    /// The name of the profile.
    public let name: ProfileName
    /// The issuer of the server.
    public let issuer: Issuer
    /// The client identifier at that server.
    public let clientID: ClientIdentifier
    /// The granted scope.
    public let scope: Scope
    /// The expiration time of the access token, by this device's clock; nil if the server sent none.
    public let expires: Date?
    /// The user who signed in; nil if `openid` was not requested.
    public let user: Credentials.User?

    /// Returns the list entries of those profiles that have a record, in the given order.
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

    /// Creates the list entry of a record.
    public init(_ name: ProfileName, _ record: TokenRecord) {
        self.name = name
        issuer = record.credentials.issuer
        clientID = record.credentials.clientID
        scope = record.credentials.scope
        expires = record.credentials.expires
        user = record.credentials.user
    }
}

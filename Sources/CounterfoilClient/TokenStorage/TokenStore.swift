public import CounterfoilProtocol
public import Foundation

/// What keeps credentials between two runs of an application.
///
/// A store takes what only the person who runs the application may read (RFC 8252 §8.12 and RFC 6749 §10.3); it keeps no
/// refresh token of a client that does not refresh. Several processes may use it at once, and any of them may be killed at
/// any point: a store then holds a record as it was before or after a writing, never a part of one.
///
/// A refresh goes through these steps, and a kill between any two of them loses nothing that the next process could use:
///
/// 1. ``exclusiveRight(to:within:)``, so that no two processes send the same refresh token;
/// 2. ``record(of:)`` again, because the process before may have refreshed already;
/// 3. ``beginRefresh(of:sending:at:in:)``, which writes down that the token is about to be sent;
/// 4. the request to the server;
/// 5. ``replace(_:with:in:)``, which keeps the answer, unless somebody signed in or out meanwhile.
public protocol TokenStore: Sendable {
    /// What is kept under a profile, or nil when there is nothing.
    func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord?

    /// Decides by what is kept under a profile what becomes of it, and does that; answers what was there before.
    ///
    /// The one way to write. Between the reading and the writing nobody else writes, in this process or another; what was
    /// written is durable when it returns. Cancelling the task does not stop it half way.
    @discardableResult
    func update(
        _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
    ) async throws(TokenStoreError) -> TokenRecord?

    /// Every profile that something is kept under, in the order of their names.
    func profiles() async throws(TokenStoreError) -> [StoredProfile]

    /// Waits until no other process and no other task has the exclusive right to a profile, and takes it.
    ///
    /// It keeps nobody from reading or writing; whoever refreshes takes it first. The system ends it with the process that
    /// holds it. ``TokenStoreError/busy(place:holder:)`` when the time is up, ``TokenStoreError/cancelled`` when the task
    /// is cancelled.
    func exclusiveRight(
        to profile: ProfileName, within limit: Duration
    ) async throws(TokenStoreError) -> ExclusiveRight
}

extension TokenStore {
    /// The credentials of a profile, or nil when there are none.
    public func credentials(of profile: ProfileName) async throws(TokenStoreError) -> Credentials? {
        try await record(of: profile)?.credentials
    }

    /// Keeps the credentials of a profile in place of those that it had; durable when it returns.
    @discardableResult
    public func save(
        _ credentials: Credentials, as profile: ProfileName
    ) async throws(TokenStoreError) -> TokenRecord {
        let record = TokenRecord(credentials)
        try await update(profile) { _ in .put(record) }
        return record
    }

    /// Forgets the credentials of a profile; answers whether there were any.
    @discardableResult
    public func remove(_ profile: ProfileName) async throws(TokenStoreError) -> Bool {
        try await update(profile) { _ in .remove } != nil
    }

    /// Puts credentials in the place of a record, or with nil removes it, if it is still the one that is kept.
    ///
    /// An intent to refresh is over with it.
    public func replace(
        _ expected: TokenRecord, with credentials: Credentials?, in profile: ProfileName
    ) async throws(TokenStoreError) -> RecordReplacement {
        try await swap(expected, for: credentials.map { TokenRecord($0) }, in: profile)
    }

    /// Writes down that a refresh token is about to be sent, if the record is still the one that is kept.
    ///
    /// The record that it answers is the one to be replaced by what the server answers.
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

/// What came of an attempt to replace a record.
public enum RecordReplacement: Sendable, Hashable {
    /// It was still as expected; what is kept now, nil when it was removed.
    case replaced(by: TokenRecord?)
    /// Somebody else was faster, and nothing was written; what is kept now, nil when it was removed.
    case changed(to: TokenRecord?)
}

/// What a list of profiles tells of one; no token is in it.
public struct StoredProfile: Sendable, Hashable {
    /// The name under which it is kept.
    public let name: ProfileName
    /// The server.
    public let issuer: Issuer
    /// The application, as the server knows it.
    public let clientID: ClientIdentifier
    /// What was allowed.
    public let scope: Scope
    /// From when on the access token is not accepted, by this device's clock; nil when the server did not say.
    public let expires: Date?
    /// Who signed in; nil when `openid` was not asked for.
    public let person: Credentials.Person?

    /// What can be told of a record.
    public init(_ name: ProfileName, _ record: TokenRecord) {
        self.name = name
        issuer = record.credentials.issuer
        clientID = record.credentials.clientID
        scope = record.credentials.scope
        expires = record.credentials.expires
        person = record.credentials.person
    }
}

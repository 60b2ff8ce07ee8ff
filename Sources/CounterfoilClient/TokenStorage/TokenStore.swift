public import CounterfoilPlatform
public import CounterfoilProtocol

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
/// 6. Leave the failure for those who wait for the lock with ``TokenStoreLock/leave(_:)``, or nil after a success.
public protocol TokenStore: Sendable {
    /// Returns the record of a profile, or nil if there is none.
    ///
    /// Throws ``TokenStoreError/damaged(location:)`` or ``TokenStoreError/newer(location:)`` if there is one that
    /// cannot be read.
    func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord?

    /// Applies the change that the closure returns to the record of a profile, and returns what was stored before.
    ///
    /// The closure receives what is stored now. A record that cannot be read can be replaced and removed like any
    /// other. All writes of records go through this function. No other task or process can write to the store between
    /// the call of the closure and the write of its change. The new record is durable when the function returns.
    /// Cancelling the task does not interrupt the write.
    @discardableResult
    func update(
        _ profile: ProfileName, _ decide: @Sendable (StoredRecord) -> TokenRecord.Change
    ) async throws(TokenStoreError) -> StoredRecord

    /// Verifies that ``update(_:_:)`` can store a record of a profile; throws its error if it cannot.
    ///
    /// A sign-in calls this function before the user has to do anything. It writes to the same place in the same way
    /// and leaves the store as it was. It holds no lock when it returns, so a later write can fail nevertheless. A
    /// record that cannot be read is no error, because a sign-in replaces it.
    ///
    /// The default writes the stored record again. If there is none, it acquires the lock and reads.
    func checkWritable(_ profile: ProfileName) async throws(TokenStoreError)

    /// Returns every profile that has a record, sorted by name.
    ///
    /// A record that cannot be read is in the list, with the reason.
    func profiles() async throws(TokenStoreError) -> [StoredProfile]

    /// Returns a value that differs from an earlier one if the store has changed since then.
    ///
    /// A session compares it before each use of a token, to notice that another process has signed the user in or out.
    /// The function must be cheap: no other program is started, and nothing is decrypted. Nil means that the store
    /// cannot tell, so the session reads the record each time. That is the default.
    func changeStamp() async -> TokenStoreStamp?

    /// Waits until no other process and no other task holds the refresh lock of a profile, and acquires it.
    ///
    /// A task acquires the lock before it refreshes; the lock does not block reads or writes of the store. The
    /// system releases the lock when the process that holds it ends. Throws
    /// ``TokenStoreError/busy(location:holder:)`` when `limit` expires and ``TokenStoreError/cancelled`` when the
    /// task is cancelled.
    func refreshLock(
        of profile: ProfileName, within limit: Duration
    ) async throws(TokenStoreError) -> TokenStoreLock

    /// Returns the failure that the last holder of the refresh lock left; nil if it left none.
    ///
    /// The function needs no lock and creates nothing. The failure outlives the record of the profile. The default is
    /// nil, so each process finds out for itself that the server is unavailable.
    func refreshFailure(of profile: ProfileName) async -> RefreshFailure?
}

extension TokenStore {
    /// Returns nil, so a session reads the record before each use of a token.
    public func changeStamp() async -> TokenStoreStamp? { nil }

    /// Returns nil, so processes share no failures.
    public func refreshFailure(of profile: ProfileName) async -> RefreshFailure? { nil }

    /// Writes the stored record again, or only reads if there is none.
    public func checkWritable(_ profile: ProfileName) async throws(TokenStoreError) {
        try await update(profile) { kept in kept.record.map { TokenRecord.Change.put($0) } ?? .keep }
    }

    /// Returns the credentials of a profile, or nil if there are none.
    public func credentials(of profile: ProfileName) async throws(TokenStoreError) -> Credentials? {
        try await record(of: profile)?.credentials
    }

    /// Stores the credentials of a profile and replaces earlier ones.
    ///
    /// The credentials are durable when the function returns. The tokens of the earlier credentials stay valid at the
    /// server. After a sign-in, use ``TokenSession/adopt(_:)`` instead, which revokes them.
    @discardableResult
    public func save(
        _ credentials: Credentials, as profile: ProfileName
    ) async throws(TokenStoreError) -> TokenRecord {
        let record = TokenRecord(credentials)
        try await update(profile) { _ in .put(record) }
        return record
    }

    /// Deletes the record of a profile, even if it cannot be read; returns whether there was one.
    @discardableResult
    public func remove(_ profile: ProfileName) async throws(TokenStoreError) -> Bool {
        try await update(profile) { _ in .remove } != .none
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
            guard kept.record?.revision == expected.revision else { return .keep }
            return record.map { .put($0) } ?? .remove
        }
        switch before {
        case .record(let kept) where kept.revision == expected.revision: return .replaced(by: record)
        case .record(let other): return .changed(to: other)
        case .none: return .changed(to: nil)
        case .unreadable(let error): throw error
        }
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

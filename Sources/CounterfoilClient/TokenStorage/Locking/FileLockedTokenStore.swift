#if !os(Windows)
    import CounterfoilProtocol
    import CounterfoilPlatform

    /// A store that uses lock files, because several processes can use it at once.
    protocol FileLockedTokenStore: TokenStore, ClientRegistrationStore {
        /// Returns the file for a lock, such as `default.refresh` for the refresh lock of the profile `default`.
        func lockFile(_ name: String) -> LockFile
    }

    extension FileLockedTokenStore {
        /// Waits until no other process and no other task holds the refresh lock of a profile, and acquires it.
        public func refreshLock(
            of profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> TokenStoreLock {
            try await lockFile("\(profile).refresh").hold(PollingWait(limit: limit)).storeLock()
        }

        /// Returns the failure that the last holder of the refresh lock left in the lock file.
        public func refreshFailure(of profile: ProfileName) -> RefreshFailure? {
            try? JSONDecoder().decode(RefreshFailure.self, from: Data(lockFile("\(profile).refresh").secondLine))
        }

        /// Waits until no other process and no other task holds the registration lock of a server, and acquires it.
        public func registrationLock(
            at issuer: Issuer, within limit: Duration
        ) async throws(TokenStoreError) -> TokenStoreLock {
            try await lockFile(issuer.registrationLockName).hold(PollingWait(limit: limit)).storeLock()
        }

        /// Waits for the lock that every write of a record needs, and acquires it.
        ///
        /// Cancelling the task does not end the wait, because the tokens to write would be lost.
        func writeLock(within limit: Duration) async throws(TokenStoreError) -> HeldLock {
            try await lockFile("lock").hold(PollingWait(limit: limit, isCancellable: false))
        }
    }
#endif

#if !os(Windows)
    import CounterfoilProtocol

    /// A store whose locks are files, because several processes can use it.
    protocol FileLockedTokenStore: TokenStore, ClientRegistrationStore {
        /// Returns the file of a lock.
        func lockFile(_ name: String) -> LockFile
    }

    extension FileLockedTokenStore {
        /// Waits until no other process holds the refresh lock of a profile, and acquires it.
        public func refreshLock(
            of profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> TokenStoreLock {
            try await lockFile("\(profile).refresh").hold(PollingWait(limit: limit)).storeLock()
        }

        /// Waits until no other process holds the registration lock of a server, and acquires it.
        public func registrationLock(
            at issuer: Issuer, within limit: Duration
        ) async throws(TokenStoreError) -> TokenStoreLock {
            try await lockFile(issuer.registrationLockName).hold(PollingWait(limit: limit)).storeLock()
        }

        /// Waits for the lock of all writes, even if the task is cancelled.
        func writeLock(within limit: Duration) async throws(TokenStoreError) -> HeldLock {
            try await lockFile("lock").hold(PollingWait(limit: limit, isCancellable: false))
        }
    }
#endif

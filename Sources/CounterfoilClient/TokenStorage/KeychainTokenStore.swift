#if canImport(Security)
    public import CounterfoilProtocol
    public import Foundation
    import Security

    /// A store in the Keychain of an Apple device.
    ///
    /// Each profile is a generic password item in the data protection keychain. The item is readable after the
    /// first unlock of the device and is never copied to another device
    /// (`kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`). Before that, each access throws
    /// ``TokenStoreError/unavailable(location:reason:)``. The item stays if the user deletes the app. On macOS only
    /// signed apps with an application identifier can use this keychain; see ``isUsable(application:)``.
    ///
    /// A session reads the item before each use of a token, which is one call of the system, so it notices that
    /// another process signed the user in or out.
    ///
    /// The locks are files in a folder of the app. Processes that share an access group must also share the
    /// lock folder. The system kills an app that is suspended while it holds a lock in a shared folder. The app
    /// must therefore finish each write and refresh, which releases the lock, before the system suspends it.
    public struct KeychainTokenStore: TokenStore {
        private let application: ApplicationIdentifier
        private let accessGroup: String?
        private let lockFolder: URL

        /// Creates the store of an app, whose identifier is the service (`kSecAttrService`) of the keychain items.
        ///
        /// `accessGroup` is the keychain access group that shares the items with other apps of the same team.
        /// `lockFolder` contains the lock files; its default is `APPLICATION/counterfoil` in the Application Support
        /// directory.
        public init(
            application: ApplicationIdentifier, accessGroup: String? = nil, lockFolder: URL? = nil
        ) {
            self.application = application
            self.accessGroup = accessGroup
            self.lockFolder =
                lockFolder
                ?? URL.applicationSupportDirectory.appendingPathComponent(
                    application == .commandLine ? "counterfoil" : "\(application)/counterfoil", isDirectory: true)
        }

        /// Returns whether the system lets this app use the keychain; a keychain that is locked now is one, too.
        ///
        /// The function searches for the items of the app and does not read their contents.
        public static func isUsable(application: ApplicationIdentifier) -> Bool {
            var query = KeychainTokenStore(application: application).query()
            query[kSecMatchLimit] = kSecMatchLimitOne
            return KeychainStatus(rawValue: SecItemCopyMatching(query as CFDictionary, nil)).isFromKeychain
        }

        /// Returns the record of a profile, or nil if there is none.
        public func record(of profile: ProfileName) throws(TokenStoreError) -> TokenRecord? {
            guard let bytes = try bytes(of: query(profile)) else { return nil }
            return try TokenRecord(stored: bytes, at: Self.location)
        }

        /// Returns every profile that has a record, sorted by name.
        public func profiles() async throws(TokenStoreError) -> [StoredProfile] {
            var query = query()
            query[kSecMatchLimit] = kSecMatchLimitAll
            query[kSecReturnAttributes] = true
            var found: CFTypeRef?
            let status = KeychainStatus(rawValue: SecItemCopyMatching(query as CFDictionary, &found))
            if status == .itemNotFound { return [] }
            guard status == .success else { throw Self.failure(status) }
            let names = (found as? [[String: Any]] ?? []).compactMap { $0[kSecAttrAccount as String] as? String }
            return try await StoredProfile.list(names.sorted().compactMap { ProfileName($0) }) {
                name throws(TokenStoreError) in
                try record(of: name)
            }
        }

        /// Applies the change that the closure returns to the record of a profile, and returns what was stored before.
        @discardableResult
        public func update(
            _ profile: ProfileName, _ decide: @Sendable (StoredRecord) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> StoredRecord {
            let lock = try await writeLock(within: .seconds(10))
            let before = try await StoredRecord { () throws(TokenStoreError) in try record(of: profile) }
            switch decide(before) {
            case .keep: break
            case .put(let record):
                try write(
                    try record.stored(at: Self.location), as: query(profile),
                    label: "\(application.label): profile \(profile)")
            case .remove: try remove(query(profile))
            }
            lock.release()
            return before
        }

        /// Verifies that a record can be stored: reads the one that is stored, stores another item and deletes it.
        public func checkWritable(_ profile: ProfileName) async throws(TokenStoreError) {
            let lock = try await writeLock(within: .seconds(10))
            _ = try await StoredRecord { () throws(TokenStoreError) in try record(of: profile) }
            // Its service name differs from that of the profiles, so the item is none of them.
            let probe = query().merging([kSecAttrService: "\(application) probe", kSecAttrAccount: "probe"]) { $1 }
            try write(Data("probe".utf8), as: probe, label: "\(application.label): a check of the Keychain")
            try remove(probe)
            lock.release()
        }

        private static let location = KeychainStatus.location

        private func bytes(of item: [CFString: Any]) throws(TokenStoreError) -> Data? {
            var query = item
            query[kSecMatchLimit] = kSecMatchLimitOne
            query[kSecReturnData] = true
            var found: CFTypeRef?
            let status = KeychainStatus(rawValue: SecItemCopyMatching(query as CFDictionary, &found))
            if status == .itemNotFound { return nil }
            guard status == .success else { throw Self.failure(status) }
            guard let bytes = found as? Data else { throw .damaged(location: Self.location) }
            return bytes
        }

        private func remove(_ item: [CFString: Any]) throws(TokenStoreError) {
            let status = KeychainStatus(rawValue: SecItemDelete(item as CFDictionary))
            guard status == .success || status == .itemNotFound else { throw Self.failure(status) }
        }

        private func write(_ bytes: Data, as item: [CFString: Any], label: String) throws(TokenStoreError) {
            let values: [CFString: Any] = [
                kSecValueData: bytes,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            func update() -> KeychainStatus {
                KeychainStatus(rawValue: SecItemUpdate(item as CFDictionary, values as CFDictionary))
            }
            var status = update()
            if status == .itemNotFound {
                var added = item.merging(values) { $1 }
                added[kSecAttrLabel] = label
                status = KeychainStatus(rawValue: SecItemAdd(added as CFDictionary, nil))
                // A process with another lock folder has added the item.
                if status == .duplicateItem { status = update() }
            }
            guard status == .success else { throw Self.failure(status) }
        }

        private func query(_ profile: ProfileName? = nil) -> [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: application.rawValue,
                kSecUseDataProtectionKeychain: true,
                kSecAttrSynchronizable: false,
            ]
            if let profile { query[kSecAttrAccount] = profile.rawValue }
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        /// Returns the query for the keychain item of a registration.
        ///
        /// Its service name differs from that of the profiles, so a registration cannot be mistaken for a profile.
        private func query(_ issuer: Issuer) -> [CFString: Any] {
            query().merging([kSecAttrService: "\(application) registrations", kSecAttrAccount: issuer.rawValue]) { $1 }
        }

        private static func failure(_ status: KeychainStatus) -> TokenStoreError {
            status.error(words: SecCopyErrorMessageString(status.rawValue, nil) as String?)
        }
    }

    extension KeychainTokenStore: ClientRegistrationStore {
        /// Returns the registration at a server, or nil if the store has none.
        public func registration(at issuer: Issuer) throws(TokenStoreError) -> ClientRegistration? {
            try bytes(of: query(issuer)).flatMap(ClientRegistration.init(stored:))
        }

        /// Stores a registration and replaces an earlier one at the same server.
        public func save(_ registration: ClientRegistration) throws(TokenStoreError) {
            try write(
                try registration.stored(at: Self.location), as: query(registration.issuer),
                label: "\(application.label): registration at \(registration.issuer)")
        }

        /// Deletes the registration at a server, if there is one.
        public func removeRegistration(at issuer: Issuer) throws(TokenStoreError) { try remove(query(issuer)) }
    }

    extension KeychainTokenStore: FileLockedTokenStore {
        func lockFile(_ name: String) -> LockFile {
            LockFile(path: lockFolder.appendingPathComponent("keychain.\(name)").path)
        }
    }
#endif

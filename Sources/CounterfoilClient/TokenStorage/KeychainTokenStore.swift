#if canImport(Security)
    public import CounterfoilProtocol
    public import Foundation
    import Security

    /// A store in the Keychain of an Apple device.
    ///
    /// Each profile is a generic password item in the data protection keychain. The item is readable after the
    /// first unlock of the device and is never copied to another device
    /// (`kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`). On macOS only signed apps with an application
    /// identifier can use this keychain; see ``isUsable(service:)``.
    ///
    /// The locks are files in a folder of the app. Processes that share an access group must also share the
    /// lock folder. The system kills an app that is suspended while it holds a lock in a shared folder. The app
    /// must therefore finish each write and refresh, which releases the lock, before the system suspends it.
    public struct KeychainTokenStore: TokenStore {
        private let service: String
        private let accessGroup: String?
        private let lockFolder: URL

        /// Creates a store whose keychain items have a service name (`kSecAttrService`) that identifies the app.
        ///
        /// `accessGroup` is the keychain access group that shares the items with other apps of the same team.
        /// `lockFolder` contains the lock files; its default is `counterfoil` in the Application Support directory.
        public init(
            service: String = "counterfoil", accessGroup: String? = nil, lockFolder: URL? = nil
        ) {
            self.service = service
            self.accessGroup = accessGroup
            self.lockFolder =
                lockFolder
                ?? URL.applicationSupportDirectory.appendingPathComponent("counterfoil", isDirectory: true)
        }

        /// Returns whether the system lets this app use the keychain.
        ///
        /// The function tests this with an item that it adds and deletes at once.
        public static func isUsable(service: String = "counterfoil") -> Bool {
            var item = KeychainTokenStore(service: service).query()
            // No profile name contains `?`, so the test item cannot collide with the item of a profile.
            item[kSecAttrAccount] = "?"
            let added = item.merging([kSecValueData: Data()]) { $1 }
            let status = SecItemAdd(added as CFDictionary, nil)
            SecItemDelete(item as CFDictionary)
            return status == errSecSuccess || status == errSecDuplicateItem
        }

        /// Returns the record of a profile, or nil if there is none.
        public func record(of profile: ProfileName) throws(TokenStoreError) -> TokenRecord? {
            guard let bytes = try bytes(of: query(profile)) else { return nil }
            return try TokenRecord(stored: bytes, at: Self.place)
        }

        /// Returns every profile that has a record, sorted by name.
        public func profiles() async throws(TokenStoreError) -> [StoredProfile] {
            var query = query()
            query[kSecMatchLimit] = kSecMatchLimitAll
            query[kSecReturnAttributes] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return [] }
            guard status == errSecSuccess else { throw Self.refusal(status) }
            let names = (found as? [[String: Any]] ?? []).compactMap { $0[kSecAttrAccount as String] as? String }
            return try await StoredProfile.list(names.sorted().compactMap { ProfileName($0) }) {
                name throws(TokenStoreError) in
                try record(of: name)
            }
        }

        /// Applies the change that the closure returns to the record of a profile, and returns the previous record.
        @discardableResult
        public func update(
            _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> TokenRecord? {
            let lock = try await writeLock(within: .seconds(10))
            let before = try record(of: profile)
            switch decide(before) {
            case .keep: break
            case .put(let record):
                try write(
                    try record.stored(at: Self.place), as: query(profile), label: "Counterfoil: profile \(profile)")
            case .remove: try remove(query(profile))
            }
            lock.release()
            return before
        }

        private static let place = "the Keychain"

        private func bytes(of item: [CFString: Any]) throws(TokenStoreError) -> Data? {
            var query = item
            query[kSecMatchLimit] = kSecMatchLimitOne
            query[kSecReturnData] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess else { throw Self.refusal(status) }
            guard let bytes = found as? Data else { throw .damaged(place: Self.place) }
            return bytes
        }

        private func remove(_ item: [CFString: Any]) throws(TokenStoreError) {
            let status = SecItemDelete(item as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.refusal(status) }
        }

        private func write(_ bytes: Data, as item: [CFString: Any], label: String) throws(TokenStoreError) {
            let values: [CFString: Any] = [
                kSecValueData: bytes,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                var added = item.merging(values) { $1 }
                added[kSecAttrLabel] = label
                status = SecItemAdd(added as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Self.refusal(status) }
        }

        private func query(_ profile: ProfileName? = nil) -> [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: service,
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
            query().merging([kSecAttrService: "\(service) registrations", kSecAttrAccount: issuer.rawValue]) { $1 }
        }

        private static func refusal(_ status: OSStatus) -> TokenStoreError {
            let words = SecCopyErrorMessageString(status, nil) as String?
            return .unavailable(place: place, reason: words ?? "the system's status is \(status)")
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
                try registration.stored(at: Self.place), as: query(registration.issuer),
                label: "Counterfoil: registration at \(registration.issuer)")
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

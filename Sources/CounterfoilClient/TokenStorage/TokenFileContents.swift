#if !os(Windows)
    import Foundation

    /// What an encrypted file holds in clear: a record for each profile.
    ///
    /// A record is opened only when it is asked for, so that one of a later version stays as it is when another is written.
    struct TokenFileContents: Sendable {
        private var records: [String: Data] = [:]

        private struct Coded: Codable {
            let records: [String: Data]
        }

        /// Nothing.
        init() {}

        /// What was encrypted.
        init(_ plain: Data, of header: TokenFileHeader, at path: String) throws(TokenStoreError) {
            switch header.form {
            case .records:
                guard let coded = try? JSONDecoder().decode(Coded.self, from: plain) else {
                    throw .unreadable(path: path)
                }
                records = coded.records
            case .credentials:
                guard let kept = try? JSONDecoder().decode([String: TokenRecord].self, from: plain) else {
                    throw .unreadable(path: path)
                }
                for (name, record) in kept { records[name] = try record.stored(at: path) }
            }
        }

        /// What is to be encrypted.
        var plain: Data? { try? JSONEncoder().encode(Coded(records: records)) }

        var isEmpty: Bool { records.isEmpty }

        var names: [ProfileName] { records.keys.sorted().compactMap { ProfileName($0) } }

        func record(of profile: ProfileName, at path: String) throws(TokenStoreError) -> TokenRecord? {
            guard let bytes = records[profile.rawValue] else { return nil }
            return try TokenRecord(stored: bytes, at: path)
        }

        mutating func put(_ record: TokenRecord, as profile: ProfileName, at path: String) throws(TokenStoreError) {
            records[profile.rawValue] = try record.stored(at: path)
        }

        mutating func remove(_ profile: ProfileName) { records[profile.rawValue] = nil }
    }
#endif

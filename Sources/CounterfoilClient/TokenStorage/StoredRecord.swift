/// The content of a store under the name of a profile.
public enum StoredRecord: Sendable, Hashable {
    /// Nothing.
    case none
    /// A record.
    case record(TokenRecord)
    /// A record that is damaged, or that a later version of this program wrote; the error says which.
    case unreadable(TokenStoreError)

    /// The record; nil if there is none that can be read.
    public var record: TokenRecord? { if case .record(let record) = self { record } else { nil } }

    /// Creates the value from the result of reading a record.
    ///
    /// Throws errors that are about more than this record.
    init(_ read: () async throws(TokenStoreError) -> TokenRecord?) async throws(TokenStoreError) {
        do throws(TokenStoreError) {
            self = try await read().map { .record($0) } ?? .none
        } catch {
            guard error.isAboutOneRecord else { throw error }
            self = .unreadable(error)
        }
    }
}

extension TokenStoreError {
    /// Whether the error concerns the record of one profile, so that the rest of the store can be used.
    var isAboutOneRecord: Bool {
        switch self {
        case .damaged, .newer: true
        case .notPrivate, .unreadable, .keyMissing, .unavailable, .busy, .cancelled, .failed: false
        }
    }
}

/// The state of a store at a time, which can only be compared with another state of the same store.
public struct TokenStoreStamp: Sendable, Hashable {
    private let words: [UInt64]

    /// Creates a stamp from numbers that change with the store, such as the inode and the time of a file.
    public init(_ words: [UInt64]) { self.words = words }
}

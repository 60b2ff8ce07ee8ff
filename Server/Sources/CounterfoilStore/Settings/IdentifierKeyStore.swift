/// The encrypted keys of the identifiers that clients know their users and sessions by.
public protocol IdentifierKeyStore: Sendable {
    /// Reads the stored keys; nil if there are none.
    func identifierKeys() async throws(StoreFault) -> [UInt8]?
    /// Returns the stored keys; if there are none, stores and returns `sealed`.
    func identifierKeys(orStoring sealed: [UInt8]) async throws(StoreFault) -> [UInt8]
    /// Replaces the stored keys if they are still `former`.
    func replaceIdentifierKeys(_ former: [UInt8], with sealed: [UInt8]) async throws(StoreFault)
}

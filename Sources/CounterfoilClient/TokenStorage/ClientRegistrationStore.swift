public import CounterfoilProtocol
import Crypto

/// A store of the dynamic registrations of a client (RFC 7591), one for each server.
///
/// The token stores of this package are also registration stores, because a registration can contain a client
/// secret and needs the same protection as tokens. A registration stays stored when the user signs out. It is
/// never used at another server.
public protocol ClientRegistrationStore: Sendable {
    /// Returns the registration at a server, or nil if the store has none.
    func registration(at issuer: Issuer) async throws(TokenStoreError) -> ClientRegistration?

    /// Stores a registration and replaces an earlier one at the same server.
    ///
    /// The registration is durable when the function returns.
    func save(_ registration: ClientRegistration) async throws(TokenStoreError)

    /// Deletes the registration at a server, if there is one.
    func removeRegistration(at issuer: Issuer) async throws(TokenStoreError)

    /// Waits until no other process and no other task holds the registration lock of a server, and acquires it.
    ///
    /// A task acquires the lock before it registers the client, so that the client is not registered twice. The lock
    /// does not block reads or writes of the store. The system releases the lock when the process that holds it ends.
    func registrationLock(
        at issuer: Issuer, within limit: Duration
    ) async throws(TokenStoreError) -> TokenStoreLock
}

extension Issuer {
    /// The name of the registration lock of this server, safe as part of a file name.
    var registrationLockName: String {
        "registration-" + Base64URL.encode(Array(SHA256.hash(data: Array(rawValue.utf8)).prefix(16)))
    }
}

public import CounterfoilProtocol
import Crypto

/// What keeps the registrations that an application made itself, each under the server that it came from.
///
/// The token stores of this product are such stores too: a registration is as private as tokens are. It outlives the
/// sign-ins, and is never used at another server than its own.
public protocol ClientRegistrationStore: Sendable {
    /// What was registered at a server, or nil when nothing is kept.
    func registration(at issuer: Issuer) async throws(TokenStoreError) -> ClientRegistration?

    /// Keeps a registration in the place of the one of the same server; durable when it returns.
    func keep(_ registration: ClientRegistration) async throws(TokenStoreError)

    /// Forgets the registration of a server, if there is one.
    func forgetRegistration(at issuer: Issuer) async throws(TokenStoreError)

    /// Waits until no other process and no other task has the exclusive right to register at a server, and takes it.
    ///
    /// It keeps nobody from reading or writing. The system ends it with the process that holds it.
    func exclusiveRight(
        toRegisterAt issuer: Issuer, within limit: Duration
    ) async throws(TokenStoreError) -> ExclusiveRight
}

extension Issuer {
    /// A name for a lock of the server, of characters that a file may have.
    var registrationLockName: String {
        "registration-" + Base64URL.encode(Array(SHA256.hash(data: Array(rawValue.utf8)).prefix(16)))
    }
}

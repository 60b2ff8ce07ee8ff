@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The random number from which the one-time link for creating the first owner is computed, 128 bits.
public struct SetupNonce: Sendable, Hashable {
    /// The 16 bytes of the number.
    public let bytes: [UInt8]

    /// Restores a number from a store; nil unless it has 16 bytes.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Creates a random number.
    public init(random: RandomBytes = RandomBytes()) { bytes = random.bytes(Self.size) }

    private static let size = 16
}

/// The number of the link for creating the first owner, which all servers with this store have in common.
///
/// The number alone is useless: the link also depends on the server key.
/// ``UserStore/addFirstOwner(_:recording:)`` deletes it.
public protocol SetupStore: Sendable {
    /// Stores a number, unless a number that was stored after `limit` exists already.
    ///
    /// - Returns: The number that is stored now; nil if there is an owner, in which case nothing is stored.
    func renewSetupNonce(
        _ nonce: SetupNonce, unlessStoredAfter limit: Date, at now: Date
    ) async throws(StoreFault) -> SetupNonce?
    /// Reads the stored number; nil if there is none, or if there is an owner.
    func setupNonce() async throws(StoreFault) -> SetupNonce?
}

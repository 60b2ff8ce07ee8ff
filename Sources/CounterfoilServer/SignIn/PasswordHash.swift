public import CounterfoilProtocol

/// The hash of a password in the encoded form of Argon2 (`$argon2id$v=19$m=…`).
public struct PasswordHash: Secret {
    /// The encoded form, which only the hasher and the store see.
    public let exposed: String

    /// A hash that a store has kept or the hasher has made.
    public init(encoded: String) { exposed = encoded }
}

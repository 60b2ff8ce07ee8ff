public import CounterfoilProtocol

/// The hash of a password in the encoded form of Argon2 (`$argon2id$v=19$m=…`), or that of another program until the
/// first sign-in of an imported user replaces it.
public struct PasswordHash: Secret {
    /// The encoded form, to be read only by the hasher and the store.
    public let exposed: String

    /// Wraps an encoded hash from the store or the hasher.
    public init(encoded: String) { exposed = encoded }
}

/// A result code of Apple's keychain (`OSStatus`).
///
/// The codes that the store distinguishes have names; they are those of `SecBase.h`.
struct KeychainStatus: RawRepresentable, Hashable, Sendable {
    let rawValue: Int32

    static let success = KeychainStatus(rawValue: 0)
    /// `errSecDuplicateItem`: another process has added the item in the meantime.
    static let duplicateItem = KeychainStatus(rawValue: -25299)
    /// `errSecItemNotFound`.
    static let itemNotFound = KeychainStatus(rawValue: -25300)
    /// `errSecInteractionNotAllowed`: the device is locked, and the item is not readable until it is unlocked.
    static let interactionNotAllowed = KeychainStatus(rawValue: -25308)
    /// `errSecMissingEntitlement`: the program has no keychain, because it is not signed with an app identifier.
    static let missingEntitlement = KeychainStatus(rawValue: -34018)

    /// Whether the program has a keychain, from the status of a search.
    ///
    /// Only a missing entitlement means that it has none. A keychain that is locked must not be taken for a missing
    /// one: the tokens in it would seem lost, and a new sign-in would go to another store.
    var isFromKeychain: Bool { self != .missingEntitlement }

    /// Returns the error for the status; `words` are the description by the system, if there is one.
    func error(words: String?) -> TokenStoreError {
        let reason =
            switch self {
            case .interactionNotAllowed: "the device is locked; try again after it was unlocked"
            case .missingEntitlement: "the program is not signed with an app identifier"
            default: words.map(\.strippingControlCharacters) ?? "the system returned the status \(rawValue)"
            }
        return .unavailable(location: Self.location, reason: reason)
    }

    /// The name of the keychain in messages.
    static let location = "the Keychain"
}
